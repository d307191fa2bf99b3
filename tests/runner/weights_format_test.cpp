#include "runner/weights_format.hpp"

#include <gtest/gtest.h>

namespace drift::weights {
namespace {

Header header() {
  Header h{};
  h.n_embd = 10;
  h.n_head = 2;
  h.n_layer = 3;
  h.n_positions = 7;
  h.vocab_size = 11;
  h.n_inner = 40;
  return h;
}

TEST(WeightsFormat, PutsEveryTensorOnAnAlignedPlaceOfItsOwn) {
  std::uint64_t end = sizeof(Header);
  for (const Tensor& tensor : tensor_list(header())) {
    EXPECT_EQ(tensor.offset % kAlignment, 0U) << tensor.name;
    EXPECT_GE(tensor.offset, end) << tensor.name;
    EXPECT_LT(tensor.offset, end + kAlignment) << tensor.name;
    end = tensor.offset + tensor.elements() * sizeof(float);
  }
}

TEST(WeightsFormat, HasAnOutputHeadOnlyWhereItIsNotTied) {
  Header h = header();
  EXPECT_EQ(tensor_list(h).size(), 2U + 3 * 12 + 3);
  EXPECT_EQ(tensor_list(h).back().name, "lm_head.weight");
  h.flags |= kTied;
  EXPECT_EQ(tensor_list(h).size(), 2U + 3 * 12 + 2);
  EXPECT_EQ(tensor_list(h).back().name, "ln_f.bias");
}

}  // namespace
}  // namespace drift::weights
