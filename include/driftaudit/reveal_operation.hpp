#pragma once

#include <string>
#include <vector>

#include "driftaudit/operation_kernels.hpp"
#include "driftaudit/tree_proof.hpp"

namespace drift {

/// What is asked of one operation of one build.
struct OrderQuestion {
  std::string operation;   ///< one of revealed_operations()
  std::size_t length = 0;  ///< terms of a sum
  std::size_t proof_rows = 1000;
  Batching batching;      ///< of operations along rows
  ProductShape shape;     ///< of matmul's product
  std::size_t lanes = 0;  ///< of the build's vectors, where known: as for `order_words`
};

/// softmax, sum, mean, matmul, dot, layer_norm.
const std::vector<std::string>& revealed_operations();

/// The order in which the operation adds, and how far that is proved.
///
///  - softmax: from triples, the likely orders first. The proof tries the exponentials that the
///    build has (Sleef's for 8 and 16 lanes, the C library's, at::exp), each with
///    both finishes, until one replays all rows. Where none does, the tree is consistent only, and
///    the note says what was tried.
///  - mean: its means of a lone 1 first have to be those of one scaled sum.
///  - matmul: along the inner dimension; the note says whether all elements of the product add
///    alike.
///  - layer_norm: never a tree. That its mean runs is seen from the means that it subtracts.
///
/// Errors (usage): another operation; a length that can't be revealed; (trouble): the build lacks
/// the operation, or its runner failed.
RevealedOrder reveal_operation(const FindOperation& find, const OrderQuestion& question);

}  // namespace drift
