#include "report/reveal_check.hpp"

#include <algorithm>

#include "driftaudit/sum_tree.hpp"

namespace drift {
namespace {

void check_build(const Place& place, const char* key, std::uint32_t build, const Report& report) {
  if (build >= report.builds.size()) {
    throw Place(place, key).error("no such build");
  }
}

void check_tree(const Place& place, const RevealedOrder& order) {
  std::size_t terms = 0;
  try {
    terms = tree_from_text(order.tree).terms();
  } catch (const Error& error) {
    throw Place(place, "tree").error(error.what());
  }
  if (terms != order.length) {
    throw Place(place, "tree").error("not over as many terms as the length says");
  }
}

void check_order(const Place& place, const RevealedOrder& order, const Report& report) {
  check_build(place, "build", order.build, report);
  if (order.operation != report.reveal->operation) {
    throw Place(place, "operation").error("not the operation that was asked");
  }
  const bool with_tree = order.status == "proved" || order.status == "consistent";
  if (with_tree == order.tree.empty() ||
      (with_tree && order.proof.proved() != (order.status == "proved"))) {
    throw Place(place, "status").error("not what the tree and its proof say");
  }
  if (with_tree) {
    check_tree(place, order);
  }
}

const RevealedOrder* order_at(const RevealRecord& reveal, std::uint32_t build,
                              std::uint64_t length) {
  const auto at =
      std::find_if(reveal.trees.begin(), reveal.trees.end(), [&](const RevealedOrder& order) {
        return order.build == build && order.length == length && !order.tree.empty();
      });
  return at == reveal.trees.end() ? nullptr : &*at;
}

void check_comparison(const Place& place, const OrderComparison& comparison, const Report& report) {
  const RevealedOrder* a = order_at(*report.reveal, comparison.a, comparison.length);
  const RevealedOrder* b = order_at(*report.reveal, comparison.b, comparison.length);
  if (a == nullptr || b == nullptr) {
    throw place.error("no such trees to compare");
  }
  if (comparison.same != (a->tree == b->tree)) {
    throw Place(place, "same").error("not what the trees say");
  }
  if (comparison.proved != (a->status == "proved" && b->status == "proved")) {
    throw Place(place, "proved").error("not what the trees' status says");
  }
}

}  // namespace

void check_reveal(const Place& place, const Report& report) {
  const RevealRecord& reveal = *report.reveal;
  const Place trees(place, "trees");
  for (std::size_t i = 0; i < reveal.trees.size(); ++i) {
    check_order(Place(trees, i), reveal.trees[i], report);
  }
  const Place comparisons(place, "comparisons");
  for (std::size_t i = 0; i < reveal.comparisons.size(); ++i) {
    check_comparison(Place(comparisons, i), reveal.comparisons[i], report);
  }
}

}  // namespace drift
