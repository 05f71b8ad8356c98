// The families' tables.
#pragma once

#include "passes/OnnxToNn/Translator.h"

namespace joule::translate {

llvm::ArrayRef<Row> pointwiseRows();
llvm::ArrayRef<Row> layoutRows();
llvm::ArrayRef<Row> contractRows();
llvm::ArrayRef<Row> integerProductRows();
llvm::ArrayRef<Row> einsumRows();
llvm::ArrayRef<Row> gatherRows();
llvm::ArrayRef<Row> dataSizeRows();
llvm::ArrayRef<Row> foldRows();
llvm::ArrayRef<Row> generateRows();
llvm::ArrayRef<Row> gridRows();
llvm::ArrayRef<Row> randomRows();
llvm::ArrayRef<Row> regionRows();
llvm::ArrayRef<Row> spectrumRows();
llvm::ArrayRef<Row> windowRows();
llvm::ArrayRef<Row> reduceRows();
llvm::ArrayRef<Row> normRows();
llvm::ArrayRef<Row> attentionRows();
llvm::ArrayRef<Row> lossRows();
llvm::ArrayRef<Row> sampleRows();
llvm::ArrayRef<Row> branchRows();
llvm::ArrayRef<Row> loopRows();
llvm::ArrayRef<Row> scanRows();
llvm::ArrayRef<Row> quantizeRows();
llvm::ArrayRef<Row> recurrentRows();
llvm::ArrayRef<Row> scatterRows();

} // namespace joule::translate
