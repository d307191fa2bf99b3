#pragma once

#include <cstdint>
#include <span>

namespace drift {

/// How the elements of two float32 tensors of equal sizes differ, in their order.
struct ElementDifference {
  bool same = true;              ///< all elements are the same bytes
  std::uint64_t elements = 0;    ///< of one side
  std::uint64_t changed = 0;     ///< elements of other bytes
  double max_abs = 0;            ///< largest |b − a| over finite pairs
  double mean_abs = 0;           ///< over finite pairs, unchanged ones included
  std::uint64_t max_ulp = 0;     ///< over pairs without NaN
  double mean_ulp = 0;           ///< over the same
  std::uint64_t non_finite = 0;  ///< NaN and infinities on both sides
};

/// Compares piece by piece, so that large tensors need not stand in memory as floats.
class ElementComparison {
 public:
  /// The next elements. Errors (trouble): the pieces are not of one length.
  void add(std::span<const float> a, std::span<const float> b);
  ElementDifference difference() const;

 private:
  ElementDifference sums_;
  std::uint64_t finite_ = 0;      ///< pairs of finite numbers
  std::uint64_t comparable_ = 0;  ///< pairs without NaN
  double sum_abs_ = 0;
  double sum_ulp_ = 0;
};

/// Compares all at once. Errors (trouble): they are not of one length.
ElementDifference compare_elements(std::span<const float> a, std::span<const float> b);

}  // namespace drift
