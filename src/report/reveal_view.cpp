#include "report/reveal_view.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "report/columns.hpp"
#include "report/runner_warnings.hpp"
#include "report/utf8.hpp"
#include "report/view.hpp"

namespace drift {
namespace {

constexpr const char* kChanged = "31";
/// Longer trees are told in words alone; the report holds them all.
constexpr std::size_t kLongestShown = 120;

using Lengths = std::vector<std::uint64_t>;

/// "8", "8 and 16", "8, 16 and 100".
std::string listed(const Lengths& lengths) {
  std::string text;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const char* separator = i == 0 ? "" : i + 1 == lengths.size() ? " and " : ", ";
    text += fmt::format("{}{}", separator, lengths[i]);
  }
  return text;
}

std::string elements(const Lengths& lengths) {
  const bool one = lengths.size() == 1 && lengths[0] == 1;
  return listed(lengths) + (one ? " element" : " elements");
}

/// Lengths by something that they share, in the order in which it first comes.
class Groups {
 public:
  void add(const std::string& key, std::uint64_t length) {
    const auto at = std::find_if(groups_.begin(), groups_.end(),
                                 [&](const auto& group) { return group.first == key; });
    Lengths& lengths =
        at == groups_.end() ? groups_.emplace_back(key, Lengths{}).second : at->second;
    if (std::find(lengths.begin(), lengths.end(), length) == lengths.end()) {
      lengths.push_back(length);
    }
  }
  const std::vector<std::pair<std::string, Lengths>>& all() const { return groups_; }

 private:
  std::vector<std::pair<std::string, Lengths>> groups_;
};

/// "A" beside others, nothing alone.
std::string letter_of(const Report& report, std::size_t build) {
  return report.builds.size() < 2 ? "" : std::string(1, static_cast<char>('A' + build));
}

std::string name_of(const Report& report, std::size_t build) {
  return report.builds.size() < 2 ? visible(report.builds[build].label) : side_name(report, build);
}

std::string replayed(const RevealedOrder& order) {
  return order.tree.empty() ? "–"
                            : fmt::format("{} of {}", order.proof.proved_rows, order.proof.rows);
}

std::string order_text(const RevealedOrder& order) {
  std::string text = order.tree.empty()
                         ? fmt::format("{}: {}", order.status, visible(order.why_not))
                         : visible(order.fold);
  if (order.status == "consistent") {
    text = "consistent, not proved: " + text;
  }
  if (!order.note.empty()) {
    text += fmt::format("; {}", visible(order.note));
  }
  return text;
}

/// Whether a neighbour's order is another one, for sure.
bool differs(const RevealRecord& reveal, const RevealedOrder& order) {
  return std::any_of(reveal.comparisons.begin(), reveal.comparisons.end(),
                     [&](const OrderComparison& found) {
                       return found.length == order.length && found.proved && !found.same &&
                              (found.a == order.build || found.b == order.build);
                     });
}

std::string heading(const Report& report) {
  const RevealRecord& reveal = *report.reveal;
  std::string text =
      fmt::format("reveal {} · {}", visible(reveal.operation), elements(reveal.lengths));
  if (!reveal.shape.empty()) {
    text += " · of a product of " + visible(reveal.shape);
  }
  if (reveal.rows_per_call > 0) {
    text += fmt::format(" · {} a call", counted(reveal.rows_per_call, "row"));
  }
  Columns sides({true, true, true, true, true, true, true});
  for (std::size_t i = 0; i < report.builds.size(); ++i) {
    std::vector<Cell> row;
    if (report.builds.size() > 1) {
      row.push_back({letter_of(report, i)});
    }
    for (std::string& fact : side_facts(report.builds[i])) {
      row.push_back({std::move(fact)});
    }
    sides.add(std::move(row));
  }
  return text + "\n" + sides.text(false);
}

std::string row_of(const Report& report, const RevealedOrder& order, bool colour,
                   std::size_t width) {
  const std::string side = letter_of(report, order.build);
  const std::string first = fmt::format("{:>6}  {}{:<14}", order.length,
                                        side.empty() ? "" : side + "  ", replayed(order));
  const std::string rest(display_width(first), ' ');
  const bool marked = differs(*report.reveal, order);
  std::string text = wrapped(order_text(order), first, rest, width);
  if (!order.tree.empty() && order.tree.size() <= kLongestShown) {
    text += wrapped(visible(order.tree), rest, rest, std::max(width, rest.size() + 40));
  }
  return marked ? coloured(text.substr(0, text.size() - 1), kChanged, colour) + "\n" : text;
}

/// Lengths at which a comparison is proved: those that differ, or those that don't.
Lengths proved_lengths(const RevealRecord& reveal, bool same) {
  Lengths lengths;
  for (const std::uint64_t length : reveal.lengths) {
    Lengths at;
    bool all_same = true;
    bool any = false;
    for (const OrderComparison& found : reveal.comparisons) {
      if (found.length == length && found.proved) {
        any = true;
        all_same = all_same && found.same;
      }
    }
    if (any && all_same == same) {
      lengths.push_back(length);
    }
  }
  return lengths;
}

Lengths lengths_with(const RevealRecord& reveal, const std::string& status) {
  Lengths lengths;
  for (const RevealedOrder& order : reveal.trees) {
    if (order.status == status && (lengths.empty() || lengths.back() != order.length)) {
      lengths.push_back(order.length);
    }
  }
  return lengths;
}

/// What an order of a product is told and proved of; empty for other operations.
std::string scope_of(const Report& report) {
  const RevealRecord& reveal = *report.reveal;
  if (reveal.shape.empty()) {
    return "";
  }
  return fmt::format(
      " (row 0, column 0 of a {} product of contiguous operands, aligned to {} bytes)",
      visible(reveal.shape), report.builds.at(0).conditions.alignment);
}

std::string reveal_headline(const Report& report) {
  const RevealRecord& reveal = *report.reveal;
  const std::string operation = visible(reveal.operation) + scope_of(report);
  const Lengths differing = proved_lengths(reveal, false);
  const Lengths same = proved_lengths(reveal, true);
  if (!differing.empty()) {
    return fmt::format("{} adds in another order at {}{}", operation, elements(differing),
                       same.empty() ? "" : ", in the same at " + listed(same));
  }
  if (!same.empty()) {
    return fmt::format("{} adds in the same order at {}", operation, elements(same));
  }
  if (const Lengths proved = lengths_with(reveal, "proved"); !proved.empty()) {
    return fmt::format("the order in which {} adds is proved at {}", operation, elements(proved));
  }
  if (const Lengths other = lengths_with(reveal, "not a sum"); !other.empty()) {
    return fmt::format("{} isn't one sum: it has no order to tell", operation);
  }
  return fmt::format("no order of {} is proved", operation);
}

void add_groups(const Groups& groups, std::vector<std::string>& details) {
  for (const auto& [words, lengths] : groups.all()) {
    details.push_back(fmt::format("{}: {}", elements(lengths), words));
  }
}

/// Whether the neighbour before it was told to have the same order.
bool told_before(const RevealRecord& reveal, const RevealedOrder& order) {
  return std::any_of(
      reveal.comparisons.begin(), reveal.comparisons.end(), [&](const OrderComparison& found) {
        return found.length == order.length && found.proved && found.same && found.b == order.build;
      });
}

/// The orders that are proved: of builds that differ against each other, else each by itself.
void add_orders(const Report& report, std::vector<std::string>& details) {
  const RevealRecord& reveal = *report.reveal;
  Groups differences;
  Groups orders;
  for (const OrderComparison& found : reveal.comparisons) {
    if (found.proved && !found.same) {
      differences.add(visible(found.words), found.length);
    }
  }
  for (const RevealedOrder& order : reveal.trees) {
    if (order.status == "proved" && !differs(reveal, order) && !told_before(reveal, order)) {
      orders.add(fmt::format("{}", visible(order.fold)), order.length);
    }
  }
  add_groups(differences, details);
  add_groups(orders, details);
}

/// "on sleef_expf8_u10, times the sum's reciprocal, the tree": what was replayed.
std::string replayer(const Proof& proof) {
  std::string text = proof.exponential.empty() ? "" : "on " + visible(proof.exponential) + ", ";
  if (!proof.finish.empty() && proof.finish != "as it is") {
    text += visible(proof.finish) + ", ";
  }
  return text + "the tree";
}

void add_proofs(const Report& report, std::vector<std::string>& details) {
  Groups proofs;
  for (const RevealedOrder& order : report.reveal->trees) {
    if (order.status == "proved") {
      proofs.add(
          fmt::format(
              "{}: {} gives the kernel's bits on {} of {} random {}", name_of(report, order.build),
              replayer(order.proof), order.proof.proved_rows, order.proof.rows,
              report.reveal->shape.empty() ? "rows" : "products, at row 0, column 0 of each"),
          order.length);
    }
  }
  for (const auto& [proof, lengths] : proofs.all()) {
    details.push_back(fmt::format("proved at {} for {}", elements(lengths), proof));
  }
}

/// What the probes of a product said of its other elements.
void add_other_elements(const Report& report, std::vector<std::string>& details) {
  Groups notes;
  for (const RevealedOrder& order : report.reveal->trees) {
    if (!report.reveal->shape.empty() && order.status == "proved" && !order.note.empty()) {
      notes.add(fmt::format("{}: {}", name_of(report, order.build), visible(order.note)),
                order.length);
    }
  }
  add_groups(notes, details);
}

void add_unproved(const Report& report, std::vector<std::string>& details) {
  Groups unproved;
  for (const RevealedOrder& order : report.reveal->trees) {
    const std::string name = name_of(report, order.build);
    if (order.status == "consistent") {
      unproved.add("consistent, not proved: " + name, order.length);
    } else if (order.status != "proved") {
      unproved.add(fmt::format("{}: {}", order.status, name), order.length);
    }
  }
  for (const auto& [what, lengths] : unproved.all()) {
    details.push_back(fmt::format("{} at {}", what, elements(lengths)));
  }
}

}  // namespace

std::string reveal_orders(const Report& report, bool colour, std::size_t width) {
  const std::string side = report.builds.size() < 2 ? "" : "   ";
  std::string text = fmt::format("length  {}{:<14}{}\n", side, "rows replayed", "order");
  for (const RevealedOrder& order : report.reveal->trees) {
    text += row_of(report, order, colour, width);
  }
  return text;
}

std::string reveal_table(const Report& report, bool colour, std::size_t width) {
  return heading(report) + "\n" + reveal_orders(report, colour, width);
}

std::vector<std::string> reveal_details(const Report& report) {
  std::vector<std::string> details{reveal_headline(report)};
  add_orders(report, details);
  add_proofs(report, details);
  add_other_elements(report, details);
  add_unproved(report, details);
  return details;
}

Verdict reveal_verdict(const Report& report) {
  std::vector<std::string> details = reveal_details(report);
  std::string headline = std::move(details.front());
  details.erase(details.begin());
  std::vector<std::string> warnings =
      runner_warnings(report.builds, [&](std::size_t i) { return side_name(report, i); });
  return {std::move(warnings), std::move(headline), std::move(details), {}, suggestions(report)};
}

}  // namespace drift
