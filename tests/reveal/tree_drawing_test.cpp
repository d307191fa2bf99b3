#include "driftaudit/tree_drawing.hpp"

#include <map>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reveal/families.hpp"

namespace drift {
namespace {

using testing::HasSubstr;

std::size_t matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

/// Tags that nest, attributes in double quotes, no bare & or <: empty, or what is wrong where.
std::string xml_fault(const std::string& text) {
  static const std::regex kTag(R"re(<(/?)([a-z]+)((?: [a-zA-Z0-9-]+="[^"<&]*")*)(/?)>)re");
  static const std::regex kText(R"re((?:[^<&>]|&(?:amp|lt|gt);)*)re");
  std::vector<std::string> open;
  std::smatch tag;
  auto at = text.begin();
  for (; std::regex_search(at, text.end(), tag, kTag); at = tag[0].second) {
    const std::string between = tag.prefix();
    if (!std::regex_match(between, kText)) {
      return "between tags: " + between;
    }
    if (tag.length(1) == 0 && tag.length(4) == 0) {
      open.push_back(tag[2]);
    } else if (tag.length(1) > 0) {
      if (open.empty() || open.back() != tag[2]) {
        return "closes what isn't open: " + tag[0].str();
      }
      open.pop_back();
    }
    if (open.empty()) {
      break;
    }
  }
  return open.empty() && tag.suffix() == "\n" ? "" : "not one whole element";
}

const SumTree& small_tree() {
  static const SumTree kTree = tree_from_text("((0+*2)+1)+(3+4+5)");
  return kTree;
}

TEST(TreeSvg, DrawsEachNodeAndEdge) {
  const std::string svg = tree_svg(small_tree(), "softmax, 6 terms");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(matches(svg, "<circle "), 4U);
  EXPECT_EQ(matches(svg, "<line "), 9U);
  EXPECT_EQ(matches(svg, ">\\*2</text>"), 1U);
  EXPECT_EQ(matches(svg, "<text "), 7U);  // six terms and the title
}

TEST(TreeSvg, EscapesItsTitle) {
  const std::string svg = tree_svg(small_tree(), "a<b & \"c\">\x01");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(matches(svg, "a&lt;b &amp; \"c\"&gt; <"), 2U);
}

TEST(TreeSvg, PutsEachAdditionAboveWhatItAddsAndNoTermOnAnother) {
  const SumTree tree = lanes_tree(300, 8, fold_tree(8, {4, 2, 1}));
  const std::string svg = tree_svg(tree, "lanes");
  const std::regex line(R"re(<line x1="([0-9.]+)" y1="(\d+)" x2="([0-9.]+)" y2="(\d+)")re");
  for (std::sregex_iterator at(svg.begin(), svg.end(), line); at != std::sregex_iterator(); ++at) {
    EXPECT_GT(std::stoi((*at)[2]), std::stoi((*at)[4]));
  }
  const std::regex number(R"re(<text x="([0-9.]+)" y="\d+">\d+</text>)re");
  std::set<double> columns;
  for (std::sregex_iterator at(svg.begin(), svg.end(), number); at != std::sregex_iterator();
       ++at) {
    columns.insert(std::stod((*at)[1]));
  }
  ASSERT_EQ(columns.size(), 300U);
  double last = 0;
  for (const double column : columns) {
    EXPECT_GE(column - last, 3 * 7.0);  // three digits wide
    last = column;
  }
}

TEST(TreeSvg, IsTheSameForTheSameTreeHoweverItWasWritten) {
  EXPECT_EQ(tree_svg(small_tree(), "t"), tree_svg(tree_from_text("(5+4+3)+(1+(*2+0))"), "t"));
  EXPECT_NE(tree_svg(small_tree(), "t"), tree_svg(tree_from_text("(5+4+3)+(1+(2+0))"), "t"));
}

TEST(TreeSvg, StaysSmallForDeepTreesAndLeavesManyNumbersOut) {
  const std::string svg = tree_svg(serial_tree(4096), "serial");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(matches(svg, "<text "), 1U);
  EXPECT_EQ(matches(svg, "<circle "), 4095U);
  EXPECT_EQ(xml_fault(tree_svg(tree_from_text("0"), "one")), "");
}

TEST(TreeDot, HasANodeForEachTermAndAdditionAndAnEdgeForEachUse) {
  const std::string dot = tree_dot(small_tree(), "softmax");
  EXPECT_EQ(matches(dot, R"(\n    n\d+ \[label="\d+")"), 6U);
  EXPECT_EQ(matches(dot, R"(\n  n\d+ \[label="\+3?"\];)"), 4U);
  EXPECT_EQ(matches(dot, R"(\[label="\+3"\])"), 1U);
  EXPECT_EQ(matches(dot, "peripheries=2"), 1U);
  // As a tree: each node but the root is the tail of one edge.
  const std::regex edge(R"(\n  n(\d+) -> n(\d+);)");
  std::map<int, int> sums;
  for (std::sregex_iterator at(dot.begin(), dot.end(), edge); at != std::sregex_iterator(); ++at) {
    EXPECT_TRUE(sums.emplace(std::stoi((*at)[1]), std::stoi((*at)[2])).second);
  }
  ASSERT_EQ(sums.size(), 9U);
  EXPECT_EQ(sums.at(0), sums.at(2));
  EXPECT_EQ(sums.at(3), sums.at(5));
  EXPECT_EQ(sums.at(sums.at(0)), sums.at(1));
  EXPECT_EQ(sums.count(static_cast<int>(small_tree().root())), 0U);
}

TEST(TreeDot, EscapesItsTitle) {
  const std::string dot = tree_dot(tree_from_text("0+1"), "a \"b\" \\ c");
  EXPECT_THAT(dot, HasSubstr(R"(digraph "a \"b\" \\ c" {)"));
  EXPECT_EQ(matches(dot, R"([^\\]")") % 2, 0U);  // every string that begins ends
}

}  // namespace
}  // namespace drift
