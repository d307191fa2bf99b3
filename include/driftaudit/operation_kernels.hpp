#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driftaudit/reveal.hpp"

#include "runner/tensor_data.hpp"

namespace drift {

/// An operation of a build, called: inputs in, output out.
using OperationCall = std::function<wire::TensorData(std::vector<wire::TensorData> inputs)>;

/// Gives an operation by its name in runner/operations.hpp. That the build lacks it shows when it
/// is called: trouble.
using FindOperation = std::function<OperationCall(const std::string& name)>;

/// An operation along the last dimension (softmax, sum, mean, an exponential): rows as a matrix.
RowKernel rows_of(OperationCall operation);

/// at::dot: a call a row.
DotKernel dots_of(OperationCall dot);

/// How many rows and columns the product of a matmul has: the kernel may choose its way by them.
struct ProductShape {
  std::size_t rows = 16;
  std::size_t columns = 16;
};

/// Dot products out of a matmul: a call a row, whose left matrix has `a` in all of its rows and the
/// right one `b` in all of its columns, so that every element of the product is that dot product,
/// each as the kernel adds at its place. The first is given.
struct ProductKernel {
  DotKernel dots;
  std::shared_ptr<bool> alike;  ///< in all calls so far, every element had the same bits
};
ProductKernel products_of(OperationCall matmul, ProductShape shape);

/// The means that layer_norm subtracts from rows of zeros and a lone 1.
///
/// The 1 is put in as `unit` × 2^-30, so that the variance vanishes beside epsilon and its root is
/// the same for every row: the output at a zero is −mean / √epsilon. Root and unit (from 1 to 2)
/// are divided out. Where means come out different, they are; some units hide it in rounding. Rows
/// have a zero, else (usage) error.
RowKernel layer_norm_means(OperationCall layer_norm, float unit = 1);

}  // namespace drift
