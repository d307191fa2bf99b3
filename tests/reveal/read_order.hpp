#pragma once

#include <optional>
#include <string>

#include "driftaudit/sum_tree.hpp"

namespace drift {

/// The tree over `terms` that words of `order_words` stand for, read by nothing but what
/// docs/reveal.md says that they mean. Null for words that leave it open: an irregular order of
/// many terms. What is fused isn't read. Throws std::logic_error on other words.
std::optional<SumTree> read_order(const std::string& words, std::size_t terms);

}  // namespace drift
