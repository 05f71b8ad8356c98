// A kernel's arguments as the command line gives them: `f32:1.5`, `buf:in.npy`, `out:f32:4x8:result.npy`.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

/// What the user wrote is wrong: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Argument {
  std::string type; // "f32", "i64", ...: of the scalar, or of a buffer's elements
  bool buffer = false;
  bool output = false;         // printed after the run
  std::vector<uint64_t> shape; // of a buffer
  std::vector<uint8_t> bytes;  // a scalar's value, or a buffer's contents
  std::string saveTo;          // .npy file, or empty
};

Argument parseArgument(const std::string &text);
unsigned elementSize(const std::string &type);
std::string formatElement(const std::string &type, const uint8_t *bytes);
void saveNpy(const Argument &argument);
