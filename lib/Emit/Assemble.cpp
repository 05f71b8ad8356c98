// Runs `ptxas` as a program: only so does it say how many registers a kernel takes and what it spills.
#include "lib/Emit/Assemble.h"

#include "lib/File/PendingPath.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace joule;

std::optional<std::string> joule::findPtxas() {
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas"))
    return *found;
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"}))
    return *found;
  return std::nullopt;
}

namespace {

/// A file that is gone when it goes out of scope.
class TemporaryFile {
public:
  static Expected<TemporaryFile> create(StringRef suffix) {
    SmallString<128> path;
    if (std::error_code failure = sys::fs::createTemporaryFile("joule", suffix, path))
      return createStringError(failure, "cannot create a temporary file: " + failure.message());
    return TemporaryFile(path.str());
  }

  StringRef path() const { return name; }

  Expected<std::string> read() const {
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(name);
    if (!buffer)
      return createStringError(buffer.getError(), "cannot read " + name + ": " + buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }

private:
  explicit TemporaryFile(StringRef path)
      : name(path.str()), pending(name), remover(std::make_unique<FileRemover>(path)) {}
  std::string name;
  PendingPath pending;
  std::unique_ptr<FileRemover> remover;
};

/// The number in front of `unit` in ptxas's report; 0 where it says nothing of it.
int64_t numberBefore(StringRef report, StringRef unit) {
  size_t end = report.find(unit);
  if (end == StringRef::npos)
    return 0;
  StringRef before = report.take_front(end).rtrim();
  size_t begin = before.find_last_not_of("0123456789");
  int64_t number = 0;
  before.drop_front(begin == StringRef::npos ? 0 : begin + 1).getAsInteger(10, number);
  return number;
}

} // namespace

Expected<AssembledKernel> joule::assemble(const std::string &ptxas, StringRef ptx, StringRef target) {
  Expected<TemporaryFile> input = TemporaryFile::create("ptx"), output = TemporaryFile::create("cubin"),
                          messages = TemporaryFile::create("txt");
  for (Expected<TemporaryFile> *file : {&input, &output, &messages})
    if (!*file)
      return file->takeError();
  std::error_code failure;
  {
    raw_fd_ostream stream(input->path(), failure);
    if (!failure) {
      stream << ptx;
      stream.close();
      failure = stream.error();
      stream.clear_error();
    }
  }
  if (failure)
    return createStringError(failure, "cannot write a temporary file: " + failure.message());
  std::string architecture = ("-arch=" + target).str();
  StringRef arguments[] = {ptxas, "-v", architecture, input->path(), "-o", output->path()};
  std::optional<StringRef> redirects[] = {StringRef(""), messages->path(), messages->path()};
  std::string message;
  int status = sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects, 0, 0, &message);
  Expected<std::string> report = messages->read();
  if (!report)
    return report.takeError();
  if (status != 0)
    return createStringError(inconvertibleErrorCode(), "ptxas refused a kernel: " + message + StringRef(*report).trim().str());
  Expected<std::string> cubin = output->read();
  if (!cubin)
    return cubin.takeError();
  AssembledKernel kernel;
  kernel.cubin = std::move(*cubin);
  kernel.registers = numberBefore(*report, " registers");
  kernel.spillStoreBytes = numberBefore(*report, " bytes spill stores");
  kernel.spillLoadBytes = numberBefore(*report, " bytes spill loads");
  kernel.stackBytes = numberBefore(*report, " bytes stack frame");
  kernel.sharedBytes = numberBefore(*report, " bytes smem");
  return kernel;
}
