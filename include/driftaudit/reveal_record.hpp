#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/localize_record.hpp"
#include "driftaudit/tree_proof.hpp"

namespace drift {

/// What two neighbouring builds of the command line make of one length.
struct OrderComparison {
  std::uint32_t a = 0;  ///< indices into the report's builds
  std::uint32_t b = 0;
  std::uint64_t length = 0;
  bool same = false;    ///< one tree
  bool proved = false;  ///< both orders are
  std::string words;    ///< as `order_difference`
};

/// What revealing an operation's order adds to a report.
struct RevealRecord {
  std::string operation;
  std::vector<std::uint64_t> lengths;
  std::string shape;                         ///< matmul: of its product, "16x16"; else empty
  std::uint64_t rows_per_call = 0;           ///< 0: as many as there were
  std::vector<RevealedOrder> trees;          ///< by length, then by build
  std::vector<OrderComparison> comparisons;  ///< of lengths at which both have a tree
  std::vector<SourceHint> sources;           ///< where to read on, likely; of two builds or more
  std::string compare;  ///< address of the changes between two builds' commits, or empty
};

}  // namespace drift
