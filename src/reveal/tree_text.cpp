#include <algorithm>
#include <charconv>
#include <variant>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/sum_tree.hpp"

namespace drift {
namespace {

using Node = SumTree::Node;

std::string term_text(const SumTree& tree, Node term) {
  return fmt::format("{}{}", tree.fused(term) ? "*" : "", term);
}

/// Reads a sum without recursion: a serial one is as deep as it is long.
class TreeReader {
 public:
  explicit TreeReader(std::string_view text) : text_(text) {}

  SumTree read() {
    open_.emplace_back();
    while (at_ < text_.size()) {
      read_item();
      while (at_ < text_.size() && text_[at_] == ')') {
        close();
      }
      if (at_ < text_.size()) {
        expect('+');
        if (at_ == text_.size()) {
          throw bad("a term is missing");
        }
      }
    }
    if (open_.size() != 1 || open_[0].empty()) {
      throw bad("it ends too early");
    }
    if (open_[0].size() > 1) {
      sums_.push_back(std::move(open_[0]));
    }
    return finish();
  }

 private:
  /// A term, or the addition of that number.
  struct Item {
    bool term = true;
    std::size_t number = 0;
    bool fused = false;
  };

  Error bad(const std::string& why) const {
    return usage_error(fmt::format("summation tree, character {}: {}", at_ + 1, why));
  }

  void expect(char wanted) {
    if (text_[at_] != wanted) {
      throw bad(fmt::format("'{}' where '{}' belongs", text_[at_], wanted));
    }
    ++at_;
  }

  void read_item() {
    while (at_ < text_.size() && text_[at_] == '(') {
      open_.emplace_back();
      ++at_;
    }
    Item item;
    if (at_ < text_.size() && text_[at_] == '*') {
      item.fused = true;
      ++at_;
    }
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, item.number);
    // No tree has more terms than its text has characters.
    if (error != std::errc{} || item.number >= text_.size()) {
      throw bad("a term's number belongs here");
    }
    at_ = static_cast<std::size_t>(stop - text_.data());
    terms_ = std::max(terms_, item.number + 1);
    open_.back().push_back(item);
  }

  void close() {
    if (open_.size() == 1 || open_.back().size() < 2) {
      throw bad("')' closes no addition");
    }
    sums_.push_back(std::move(open_.back()));
    open_.pop_back();
    open_.back().push_back({false, sums_.size() - 1, false});
    ++at_;
  }

  SumTree finish() const {
    std::vector<bool> fused(terms_, false);
    std::vector<SumTree::Addition> additions;
    for (const std::vector<Item>& sum : sums_) {
      SumTree::Addition addition;
      for (const Item& item : sum) {
        addition.children.push_back(
            static_cast<Node>(item.term ? item.number : terms_ + item.number));
        if (item.fused) {
          fused[item.number] = true;
        }
      }
      additions.push_back(std::move(addition));
    }
    return {terms_, additions, std::move(fused)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t terms_ = 0;
  std::vector<std::vector<Item>> open_;
  std::vector<std::vector<Item>> sums_;
};

}  // namespace

std::string tree_text(const SumTree& tree) {
  using Piece = std::variant<Node, char>;
  std::string text;
  std::vector<Piece> open = {tree.root()};
  while (!open.empty()) {
    const Piece piece = open.back();
    open.pop_back();
    if (const char* mark = std::get_if<char>(&piece)) {
      text += *mark;
      continue;
    }
    const Node node = std::get<Node>(piece);
    if (tree.is_term(node)) {
      text += term_text(tree, node);
      continue;
    }
    const bool inner = node != tree.root();
    const std::vector<Node>& children = tree.children(node);
    if (inner) {
      text += '(';
      open.emplace_back(')');
    }
    for (std::size_t i = children.size(); i-- > 0;) {
      open.emplace_back(children[i]);
      if (i > 0) {
        open.emplace_back('+');
      }
    }
  }
  return text;
}

SumTree tree_from_text(std::string_view text) { return TreeReader(text).read(); }

}  // namespace drift
