// Turns MLIR's diagnostics into the API's errors.
#include "lib/Compiler/Diagnostics.h"

#include "dialects/Nn/NnDialect.h"

using namespace mlir;
using namespace joule;

/// The diagnostic's sentence and those of its notes; what concerns a file and no node begins with the file.
static std::string messageOf(Diagnostic &diagnostic) {
  std::string message = diagnostic.str();
  if (auto file = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
    message = "\"" + file.getFilename().str() + "\": " + message;
  for (Diagnostic &note : diagnostic.getNotes())
    message += "; " + note.str();
  return message;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        SmallVector<StringAttr> nodes = nn::nodeNames(diagnostic.getLocation());
        collected.push_back({ErrorCode::CompileFailed, messageOf(diagnostic), nodes.empty() ? "" : nodes[0].str()});
        return success();
      }) {}

Error DiagnosticCollector::error(ErrorCode code) const {
  if (collected.empty())
    return {code, "internal: a pass failed without saying why", ""};
  Error first = collected.front();
  first.code = code;
  return first;
}
