#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "model/pickle.hpp"
#include "model/pickle_input.hpp"

namespace drift::pickle {

/// The values of a pickle while it runs: its stack with marks, its memo. Each is bounded, and every
/// misuse is an error of the input.
class Stack {
 public:
  explicit Stack(const Input& input) : input_(input) {}

  const Value& value(Ref ref) const { return values_[ref]; }
  const std::vector<Value>& values() const { return values_; }
  std::vector<Value> take_values() { return std::move(values_); }

  void push(Value value) {
    if (values_.size() == kMaxValues) {
      input_.damaged(fmt::format("more than {} values, too many for a state dict", kMaxValues));
    }
    values_.push_back(std::move(value));
    push_ref(static_cast<Ref>(values_.size() - 1));
  }

  void push_ref(Ref ref) {
    if (stack_.size() == kMaxValues) {
      input_.damaged("a stack too deep for a state dict");
    }
    stack_.push_back(ref);
  }

  /// Values above the innermost mark can be taken one by one, the mark cannot.
  Ref pop() {
    if (stack_.size() == (marks_.empty() ? 0 : marks_.back())) {
      input_.damaged("takes a value from an empty stack");
    }
    const Ref ref = stack_.back();
    stack_.pop_back();
    return ref;
  }

  Value& top() {
    const Ref ref = pop();
    stack_.push_back(ref);
    return values_[ref];
  }

  std::vector<Ref> pop_to_mark() {
    if (marks_.empty()) {
      input_.damaged("looks for a mark that isn't there");
    }
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Ref> items(first, stack_.end());
    count_items(items.size());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  std::vector<Ref> pop_items(std::size_t count) {
    std::vector<Ref> items(count);
    count_items(count);
    for (std::size_t i = count; i-- > 0;) {
      items[i] = pop();
    }
    return items;
  }

  /// Adds items to the list or dict on the top of the stack.
  void add_items(Kind kind, const std::vector<Ref>& items) {
    Value& target = top();
    if (target.kind != kind || (kind == Kind::kDict && items.size() % 2 != 0)) {
      input_.damaged("adds items to what can't take them");
    }
    target.items.insert(target.items.end(), items.begin(), items.end());
  }

  void open_mark() {
    if (marks_.size() == kMaxValues) {
      input_.damaged("too many marks for a state dict");
    }
    marks_.push_back(stack_.size());
  }

  void remember(std::uint64_t slot) {
    const Ref ref = pop();
    push_ref(ref);
    memo_[slot] = ref;
    if (memo_.size() > kMaxValues) {
      input_.damaged("remembers too many values for a state dict");
    }
  }

  void recall(std::uint64_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) {
      input_.damaged(fmt::format("recalls value {}, which it never remembered", slot));
    }
    push_ref(found->second);
  }

  std::size_t remembered() const { return memo_.size(); }

 private:
  static constexpr std::size_t kMaxValues = std::size_t{1} << 20;
  static constexpr std::size_t kMaxItems = std::size_t{1} << 22;

  /// One value may be an item many times over, so items are bounded apart from values.
  void count_items(std::size_t more) {
    items_ += more;
    if (items_ > kMaxItems) {
      input_.damaged(fmt::format("more than {} items, too many for a state dict", kMaxItems));
    }
  }

  const Input& input_;
  std::vector<Value> values_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Ref> memo_;
  std::size_t items_ = 0;
};

}  // namespace drift::pickle
