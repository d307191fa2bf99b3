#include <iterator>

#include <fmt/format.h>

#include "driftaudit/tree_drawing.hpp"

namespace drift {
namespace {

/// Within double quotes; Graphviz reads `\\` and `\"`, and takes line ends as they are.
std::string dot_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string tree_dot(const SumTree& tree, const std::string& title) {
  const std::string name = dot_escaped(title);
  std::string dot;
  const auto out = std::back_inserter(dot);
  fmt::format_to(out, "digraph \"{}\" {{\n  label=\"{}\";\n  rankdir=BT;\n", name, name);
  fmt::format_to(out, "  node [shape=circle, fontname=\"sans-serif\", fontsize=10];\n");
  fmt::format_to(out, "  {{\n    rank=same;\n    node [shape=box];\n");
  for (std::size_t term = 0; term < tree.terms(); ++term) {
    const bool fused = tree.fused(static_cast<SumTree::Node>(term));
    fmt::format_to(out, "    n{} [label=\"{}\"{}];\n", term, term, fused ? ", peripheries=2" : "");
  }
  fmt::format_to(out, "  }}\n");
  std::size_t node = tree.terms();
  for (const SumTree::Addition& addition : tree.additions()) {
    const std::size_t wide = addition.children.size();
    fmt::format_to(out, "  n{} [label=\"+{}\"];\n", node, wide > 2 ? std::to_string(wide) : "");
    for (const SumTree::Node child : addition.children) {
      fmt::format_to(out, "  n{} -> n{};\n", child, node);
    }
    ++node;
  }
  fmt::format_to(out, "}}\n");
  return dot;
}

}  // namespace drift
