// Which operators are supported, in which versions.
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule::translate;

namespace {

/// The rows of each operator, by domain and name.
llvm::StringMap<SmallVector<const Row *>> indexRows() {
  llvm::StringMap<SmallVector<const Row *>> index;
  ArrayRef<Row> allRows[] = {
      pointwiseRows(),
      layoutRows(),
      contractRows(),
      integerProductRows(),
      einsumRows(),
      gatherRows(),
      dataSizeRows(),
      foldRows(),
      generateRows(),
      gridRows(),
      randomRows(),
      regionRows(),
      spectrumRows(),
      windowRows(),
      reduceRows(),
      normRows(),
      attentionRows(),
      lossRows(),
      quantizeRows(),
      recurrentRows(),
      scatterRows(),
      sampleRows(),
      branchRows(),
      loopRows(),
      scanRows(),
  };
  for (ArrayRef<Row> rows : allRows)
    for (const Row &row : rows)
      index[(Twine(row.domain) + ":" + row.name).str()].push_back(&row);
  return index;
}

} // namespace

const Row *joule::translate::findRow(StringRef domain, StringRef name, int64_t version) {
  static const llvm::StringMap<SmallVector<const Row *>> index = indexRows();
  const Row *best = nullptr;
  for (const Row *row : index.lookup((domain + ":" + name).str()))
    if (row->since <= version && (!best || row->since > best->since))
      best = row;
  return best;
}
