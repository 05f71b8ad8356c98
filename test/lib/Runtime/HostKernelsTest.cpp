// The host kernels that every session has.
#include "lib/Runtime/HostKernels.h"

#include <cstring>
#include <gtest/gtest.h>

namespace joule {
namespace {

template <typename T>
Tensor tensor(ElementType type, std::vector<int64_t> shape, const std::vector<T> &values) {
  Tensor made{type, std::move(shape), std::vector<uint8_t>(values.size() * sizeof(T))};
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

std::vector<int64_t> integers(const Tensor &tensor) {
  std::vector<int64_t> values(tensor.bytes.size() / 8);
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

Result<std::vector<Tensor>> call(const std::string &name, const std::vector<Tensor> &inputs,
                                 const std::string &attributes = "{}") {
  std::vector<TensorView> views;
  for (const Tensor &input : inputs)
    views.push_back(input.view());
  return standardHostKernels().at(name)(views, attributes);
}

TEST(HostKernels, nonzero) {
  auto results = call("nonzero", {tensor<float>(ElementType::Float32, {2, 2}, {0, 1, 2, 0})});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(results->front().shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(integers(results->front()), (std::vector<int64_t>{0, 1, 1, 0}));
}

TEST(HostKernels, unique_sorts_where_told) {
  Tensor input = tensor<int32_t>(ElementType::Int32, {6}, {2, 1, 1, 3, 4, 3});
  auto sorted = call("unique", {input}, R"({"sorted": true})"), asFound = call("unique", {input});
  ASSERT_TRUE(sorted) << sorted.error().message;
  EXPECT_EQ(integers((*sorted)[0]), (std::vector<int64_t>{1, 0, 3, 4}));
  EXPECT_EQ(integers((*sorted)[1]), (std::vector<int64_t>{1, 0, 0, 2, 3, 2}));
  EXPECT_EQ(integers((*asFound)[0]), (std::vector<int64_t>{0, 1, 3, 4}));
  EXPECT_EQ(integers((*asFound)[1]), (std::vector<int64_t>{0, 1, 1, 2, 3, 2}));
}

TEST(HostKernels, non_max_suppression) {
  Tensor boxes = tensor<float>(ElementType::Float32, {1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 0.75, 0, 2, 1, 3});
  Tensor scores = tensor<float>(ElementType::Float32, {1, 1, 3}, {0.5, 0.75, 0.25});
  Tensor most = tensor<int64_t>(ElementType::Int64, {}, {3}),
         overlap = tensor<float>(ElementType::Float32, {}, {0.5});
  auto results = call("non_max_suppression", {boxes, scores, most, overlap});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(integers(results->front()), (std::vector<int64_t>{0, 0, 1, 0, 0, 2}));
}

TEST(HostKernels, refuse_what_does_not_fit) {
  Tensor number = tensor<float>(ElementType::Float32, {}, {1});
  EXPECT_EQ(call("nonzero", {}).error().code, ErrorCode::HostKernelFailed);
  EXPECT_EQ(call("unique", {number}).error().code, ErrorCode::HostKernelFailed);
  EXPECT_EQ(call("nonzero", {number}, "[").error().code, ErrorCode::HostKernelFailed);
  EXPECT_EQ(call("non_max_suppression", {number, number, number, number}).error().code,
            ErrorCode::HostKernelFailed);
  Tensor text{ElementType::String, {1}, {}};
  EXPECT_EQ(call("nonzero", {text}).error().code, ErrorCode::HostKernelFailed);
}

} // namespace
} // namespace joule
