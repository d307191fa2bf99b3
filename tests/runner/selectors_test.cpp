#include "runner/selectors.hpp"

#include <gtest/gtest.h>

namespace drift::runner {
namespace {

TEST(Selectors, AreNamesOrBeginnings) {
  EXPECT_TRUE(selects("block.1.attn.softmax", "block.1.attn.softmax"));
  EXPECT_FALSE(selects("block.1.attn", "block.1.attn.softmax"));
  EXPECT_FALSE(selects("block.1.attn.softmax", "block.1.attn"));
  EXPECT_TRUE(selects("block.1.*", "block.1.attn.softmax"));
  EXPECT_FALSE(selects("block.1.*", "block.10.attn.softmax"));
  EXPECT_TRUE(selects("*", "lm_head"));
  EXPECT_FALSE(selects("lm_head.long*", "lm_head"));
  EXPECT_FALSE(selects("", "lm_head"));
}

TEST(Selectors, SelectWhatAnyOfThemDoes) {
  EXPECT_TRUE(any_selects({"ln_f", "block.0.*"}, "block.0.ln_1"));
  EXPECT_FALSE(any_selects({"ln_f", "block.0.*"}, "block.1.ln_1"));
  EXPECT_FALSE(any_selects({}, "ln_f"));
}

}  // namespace
}  // namespace drift::runner
