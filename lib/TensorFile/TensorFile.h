// Tensors in files: NumPy's .npy and .npz, and ONNX's TensorProto.
#pragma once

#include "joule/Error.h"
#include "joule/Tensor.h"

#include <map>
#include <string>

namespace joule {

/// The tensor of a .npy file; one in Fortran's order is turned into C's. NumPy has no name for the types that
/// are not its own: bfloat16 is read from "bfloat16" or "<V2", and written as "<V2", as the package ml_dtypes
/// does. Errors: FileUnreadable, TensorFileInvalid.
Result<Tensor> readNpy(const std::string &path);

/// The arrays of an uncompressed .npz file, by name. Errors: FileUnreadable, TensorFileInvalid.
Result<std::map<std::string, Tensor>> readNpz(const std::string &path);

/// Writes an uncompressed .npz file. Types that NumPy lacks are refused. Errors: FileUnwritable,
/// TensorFileInvalid.
Result<void> writeNpz(const std::string &path, const std::map<std::string, Tensor> &tensors);

struct NamedTensor {
  std::string name; ///< may be empty
  Tensor tensor;
};

/// The tensor of a file that holds one onnx.TensorProto; strings are refused. Errors: FileUnreadable,
/// TensorFileInvalid.
Result<NamedTensor> readTensorProto(const std::string &path);

} // namespace joule
