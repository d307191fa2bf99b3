#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "driftaudit/tree_drawing.hpp"

namespace drift {
namespace {

using Node = SumTree::Node;

constexpr std::size_t kMostNumbered = 512;  // terms
constexpr int kMargin = 16;
constexpr int kTitle = 24;      // height of the title's line
constexpr int kNumber = 16;     // height of the terms' numbers
constexpr int kDigit = 7;       // width of a digit at the numbers' size
constexpr int kTallest = 1200;  // of the tree, where its levels needn't be closer than kClosest
constexpr int kFurthest = 36;   // levels apart
constexpr int kClosest = 3;

/// Half pixels keep positions whole: an addition is in the middle of its outermost children.
struct Place {
  int half_x = 0;
  int level = 0;
};

std::string xml_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        // XML has no control characters but these.
        escaped += static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t' ? c : ' ';
    }
  }
  return escaped;
}

/// Terms from left to right as a walk from the root meets them.
std::vector<Node> terms_in_order(const SumTree& tree) {
  std::vector<Node> order;
  std::vector<Node> open = {tree.root()};
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    if (tree.is_term(node)) {
      order.push_back(node);
      continue;
    }
    const std::vector<Node>& children = tree.children(node);
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return order;
}

class Drawing {
 public:
  Drawing(const SumTree& tree, const std::string& title) : tree_(tree), title_(title) {
    const auto digits = static_cast<int>(std::to_string(tree.terms() - 1).size());
    numbered_ = tree.terms() <= kMostNumbered;
    column_ = numbered_ ? kDigit * (digits + (tree.any_fused() ? 1 : 0)) + 6 : 4;
    place_nodes();
    const int levels = places_.back().level;
    step_ = std::clamp(kTallest / std::max(levels, 1), kClosest, kFurthest);
    floor_ = kMargin + kTitle + levels * step_;
  }

  std::string draw() {
    const int words = kDigit * static_cast<int>(title_.size());
    const int width = 2 * kMargin + std::max(words, column_ * static_cast<int>(tree_.terms()));
    const int height = floor_ + kMargin + (numbered_ ? kNumber : 0);
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n",
        width, height);
    put("<title>{0}</title>\n<rect width=\"{1}\" height=\"{2}\" fill=\"white\"/>\n",
        xml_escaped(title_), width, height);
    put("<text x=\"{}\" y=\"{}\" font-size=\"13\">{}</text>\n", kMargin, kMargin + 8,
        xml_escaped(title_));
    draw_edges();
    draw_additions();
    draw_terms();
    svg_ += "</svg>\n";
    return std::move(svg_);
  }

 private:
  template <typename... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Values>(values)...);
  }

  void place_nodes() {
    places_.resize(tree_.terms());
    int column = 0;
    for (const Node term : terms_in_order(tree_)) {
      places_[term].half_x = 2 * kMargin + column_ * (2 * column + 1);
      ++column;
    }
    for (const SumTree::Addition& addition : tree_.additions()) {
      int left = places_[addition.children[0]].half_x;
      int right = left;
      int level = 0;
      for (const Node child : addition.children) {
        left = std::min(left, places_[child].half_x);
        right = std::max(right, places_[child].half_x);
        level = std::max(level, places_[child].level + 1);
      }
      places_.push_back({(left + right) / 2, level});
    }
  }

  std::string x(Node node) const {
    const int half = places_[node].half_x;
    return fmt::format("{}{}", half / 2, half % 2 == 0 ? "" : ".5");
  }
  int y(Node node) const { return floor_ - places_[node].level * step_; }

  void draw_edges() {
    put("<g stroke=\"#555\" stroke-width=\"1\">\n");
    Node node = static_cast<Node>(tree_.terms());
    for (const SumTree::Addition& addition : tree_.additions()) {
      for (const Node child : addition.children) {
        put("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", x(child), y(child), x(node),
            y(node),
            tree_.is_term(child) && tree_.fused(child) ? " stroke=\"#b00\" stroke-width=\"2\""
                                                       : "");
      }
      ++node;
    }
    put("</g>\n");
  }

  void draw_additions() {
    const int radius = std::clamp(step_ / 6, 1, 4);
    put("<g fill=\"#036\">\n");
    Node node = static_cast<Node>(tree_.terms());
    for (const SumTree::Addition& addition : tree_.additions()) {
      put("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n", x(node), y(node), radius,
          addition.children.size() > 2 ? " fill=\"#b60\"" : "");
      ++node;
    }
    put("</g>\n");
  }

  void draw_terms() {
    if (!numbered_) {
      return;
    }
    put("<g text-anchor=\"middle\">\n");
    for (Node term = 0; term < tree_.terms(); ++term) {
      put("<text x=\"{}\" y=\"{}\">{}{}</text>\n", x(term), floor_ + kNumber - 2,
          tree_.fused(term) ? "*" : "", term);
    }
    put("</g>\n");
  }

  const SumTree& tree_;
  const std::string& title_;
  bool numbered_ = true;
  int column_ = 0;
  int step_ = 0;
  int floor_ = 0;
  std::vector<Place> places_;
  std::string svg_;
};

}  // namespace

std::string tree_svg(const SumTree& tree, const std::string& title) {
  return Drawing(tree, title).draw();
}

}  // namespace drift
