#include "report/localize_view.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/columns.hpp"
#include "report/utf8.hpp"
#include "report/verdict.hpp"

namespace drift {
namespace {

constexpr const char* kRed = "31";
constexpr std::size_t kMostKinds = 6;
constexpr std::size_t kMostStages = 40;
constexpr std::size_t kPromptColumns = 48;

/// Operations of one kind, over all blocks.
struct KindCount {
  std::string kind;
  std::uint64_t own = 0;
  std::uint64_t all = 0;
  const LocalizedOperation* first = nullptr;  ///< that changed by itself
};

/// The kinds that changed by themselves, in order of execution.
std::vector<KindCount> own_kinds(const LocalizeRecord& record) {
  std::vector<KindCount> kinds;
  for (const LocalizedOperation& operation : record.operations) {
    const std::string kind = operation_kind(operation.name);
    auto at = std::find_if(kinds.begin(), kinds.end(),
                           [&](const KindCount& count) { return count.kind == kind; });
    if (at == kinds.end()) {
      at = kinds.insert(kinds.end(), {kind, 0, 0, nullptr});
    }
    ++at->all;
    if (operation.own == true) {
      ++at->own;
      at->first = at->first == nullptr ? &operation : at->first;
    }
  }
  std::erase_if(kinds, [](const KindCount& count) { return count.own == 0; });
  return kinds;
}

/// "in each of 4 blocks", "in 2 of 4 blocks"; empty for what stands outside the blocks.
std::string in_blocks(const KindCount& count) {
  if (count.all == 1 && !count.first->name.starts_with("block.")) {
    return "";
  }
  return count.own == count.all
             ? fmt::format("in each of {}", counted(count.all, "block"))
             : fmt::format("in {} of {}", count.own, counted(count.all, "block"));
}

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

/// What an operation did, in the words of what the sides differ by.
std::string own_words(const Report& report, bool many) {
  const std::string changed = many ? "changed by themselves" : "changed by itself";
  if (report.builds.size() != 2) {
    return changed;
  }
  const BuildRecord& a = report.builds[0];
  const BuildRecord& b = report.builds[1];
  if (a.libtorch_sha256 != b.libtorch_sha256 || a.libtorch_sha256.empty()) {
    return changed;
  }
  const std::string gives = many ? "give" : "gives";
  if (a.cpu_capability != b.cpu_capability) {
    return fmt::format("{} other bits on {} than on {} kernels", gives, kernels_name(b),
                       kernels_name(a));
  }
  if (a.threads != b.threads) {
    return fmt::format("{} other bits on {} than on {}", gives, counted(b.threads, "thread"),
                       counted(a.threads, "thread"));
  }
  return a.knobs != b.knobs ? gives + " other bits under other variables"
                            : gives + " other bits in the same build";
}

std::uint64_t count_if(const LocalizeRecord& record, bool (*holds)(const LocalizedOperation&)) {
  return static_cast<std::uint64_t>(
      std::count_if(record.operations.begin(), record.operations.end(), holds));
}

bool is_inherited(const LocalizedOperation& o) {
  return !o.same && o.own == false && !o.inputs_same;
}
bool is_unexplained(const LocalizedOperation& o) {
  return !o.same && o.own == false && o.inputs_same;
}
bool is_not_replayable(const LocalizedOperation& o) { return !o.own.has_value(); }
bool is_own(const LocalizedOperation& o) { return o.own == true; }
bool is_changed(const LocalizedOperation& o) { return !o.same; }

const char* cause_of(const LocalizedOperation& operation) {
  if (is_own(operation)) {
    return "its own";
  }
  if (is_not_replayable(operation)) {
    return "not replayable";
  }
  return is_inherited(operation) ? "inherited" : "not by its inputs, nor when replayed";
}

std::vector<Cell> difference_cells(bool same, double max_abs, double mean_abs,
                                   std::uint64_t max_ulp, double mean_ulp) {
  if (same) {
    return {{"same"}, {""}, {""}, {""}};
  }
  return {{short_number(max_abs), kRed},
          {short_number(mean_abs)},
          {fmt::format("{}", max_ulp)},
          {short_number(mean_ulp)}};
}

const LocalizedOperation* operation_named(const LocalizeRecord& record, const std::string& name) {
  const auto at = std::find_if(record.operations.begin(), record.operations.end(),
                               [&](const LocalizedOperation& o) { return o.name == name; });
  return at == record.operations.end() ? nullptr : &*at;
}

std::string growth_table(const LocalizeRecord& record, bool colour) {
  Columns columns({true, true, false, false, false, false});
  columns.add({{"output of"}, {""}, {"max |Δ|"}, {"mean |Δ|"}, {"max ULP"}, {"mean ULP"}});
  const std::size_t count = record.growth.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (count > kMostStages && i >= kMostStages / 2 && i + kMostStages / 2 < count) {
      continue;
    }
    const GrowthPoint& point = record.growth[i];
    const LocalizedOperation* operation = operation_named(record, point.operation);
    const std::string kind = operation_kind(point.operation);
    std::vector<Cell> row{{"  " + visible(point.stage)},
                          {kind == point.stage ? "" : visible(kind)}};
    for (Cell& cell : difference_cells(operation != nullptr && operation->same, point.max_abs_diff,
                                       point.mean_abs_diff, point.max_ulp, point.mean_ulp)) {
      row.push_back(std::move(cell));
    }
    columns.add(std::move(row));
  }
  std::string text = columns.text(colour);
  if (count > kMostStages) {
    text +=
        fmt::format("  … and {} between: see the report\n", counted(count - kMostStages, "stage"));
  }
  return text;
}

std::string own_table(const LocalizeRecord& record, bool colour) {
  const std::vector<KindCount> kinds = own_kinds(record);
  if (kinds.empty()) {
    return "";
  }
  Columns columns({true, true, true, true, false, false, false, false});
  columns.add({{"own change"},
               {""},
               {"first"},
               {"shape"},
               {"max |Δ| on A's inputs"},
               {"max ULP"},
               {"in B's own pass"},
               {"max ULP"}});
  for (const KindCount& count : kinds) {
    const std::optional<OwnChange>& own = count.first->own_change;
    columns.add({{"  " + visible(count.kind), kRed},
                 {in_blocks(count)},
                 {visible(count.first->name)},
                 {fmt::format("[{}]", fmt::join(count.first->shape, ", "))},
                 {own ? short_number(own->max_abs_diff) : "–"},
                 {own ? fmt::format("{}", own->max_ulp) : "–"},
                 {count.first->same ? "same" : short_number(count.first->max_abs_diff)},
                 {count.first->same ? "" : fmt::format("{}", count.first->max_ulp)}});
  }
  return "\n" + columns.text(colour);
}

std::string condition_words(const std::string& condition) {
  return condition == "rows" || condition == "heads" ? "the number of " + condition
                                                     : "the " + condition;
}

std::string tried_words(const IsolationCondition& condition) {
  return fmt::format("{} ({})", condition_words(condition.condition),
                     fmt::join(condition.tried, ", "));
}

/// Which conditions a row's bits hang on, and which not.
std::string condition_lines(const IsolatedOperation& isolated) {
  std::string text;
  std::string still;
  for (const IsolationCondition& condition : isolated.conditions) {
    if (condition.moves_a.empty() && condition.moves_b.empty()) {
      still += (still.empty() ? "" : ", ") + tried_words(condition);
      continue;
    }
    for (const auto& [side, moves] :
         {std::pair('A', &condition.moves_a), {'B', &condition.moves_b}}) {
      if (!moves->empty()) {
        text += fmt::format("  {}'s bits of a row hang on {} at lengths {}\n", side,
                            tried_words(condition), ranges_in_words(*moves));
      }
    }
  }
  return text + (still.empty() ? "" : "  a row's bits don't hang on " + still + "\n");
}

std::uint64_t lengths_in(const std::vector<LengthRange>& gapless) {
  std::uint64_t count = 0;
  for (const LengthRange& range : gapless) {
    count += range.last - range.first + 1;
  }
  return count;
}

std::string isolation_text(const IsolatedOperation& isolated) {
  const std::string head = "\n" + visible(isolated.function) + " by itself";
  if (!isolated.why_not.empty() || isolated.lengths_tried.empty()) {
    return fmt::format("{}: not tried, {}\n", head, visible(isolated.why_not));
  }
  std::string text =
      fmt::format("{}, on {} random rows of {} from {} to {}\n", head, isolated.rows_tried,
                  counted(lengths_in(isolated.lengths_tried), "length"),
                  isolated.lengths_tried.front().first, isolated.lengths_tried.back().last);
  text += fmt::format("  same at lengths tried of    {}\n", ranges_in_words(isolated.lengths_same));
  text += fmt::format("  differs at lengths tried of {}", ranges_in_words(isolated.lengths_differ));
  if (isolated.share_differ) {
    text += fmt::format(", in {:.3g} % of their rows", 100 * *isolated.share_differ);
  }
  return text + "\n" + condition_lines(isolated);
}

/// "greedy, prompt 2, step 1  Q: What is 17 times 23?\nA:  13 tokens".
std::string pass_line(const View& view) {
  const LocalizeRecord& record = *view.report().localize;
  std::string line = fmt::format("prompt {}, step {}", record.prompt, record.step);
  if (view.report().runs.empty()) {
    return line + "\n";
  }
  const Run& run = view.report().runs[0];
  line = fmt::format("{}, {}  {}  {}", visible(run.mode), line,
                     shortened(visible(run.prompt_text), kPromptColumns),
                     counted(run.prompt_ids.size(), "token"));
  if (record.step > 1) {
    line += fmt::format(" and {} of A's{}", record.step - 1,
                        record.cached ? ", with a KV cache" : ", without a KV cache");
  }
  return line + "\n";
}

std::string first_difference_words(const LocalizeRecord& record) {
  const LocalizedOperation* first = operation_named(record, *record.first_difference);
  if (first == nullptr) {
    return "first difference: " + visible(*record.first_difference);
  }
  return fmt::format("first difference in order of execution: {} [{}], {}", visible(first->name),
                     fmt::join(first->shape, ", "), cause_of(*first));
}

std::string proof_words(const LocalizeRecord& record) {
  const std::uint64_t own = count_if(record, is_own);
  const std::uint64_t replayable = record.operations.size() - count_if(record, is_not_replayable);
  std::string text = "proved on this pass: given A's inputs as they lay, B gives ";
  text += own == 0 ? fmt::format("A's bits in {}", counted(replayable, "operation"))
                   : fmt::format("other bits in {} of {}", own, counted(replayable, "operation"));
  if (const std::uint64_t inherited = count_if(record, is_inherited); inherited > 0) {
    text += fmt::format("; {}{} only {} a change on (inherited, on these inputs)", inherited,
                        own == 0         ? ""
                        : inherited == 1 ? " other"
                                         : " others",
                        inherited == 1 ? "carries" : "carry");
  }
  return text;
}

/// Of operations of which nothing can be said.
std::string named_few(const LocalizeRecord& record, bool (*holds)(const LocalizedOperation&)) {
  constexpr std::uint64_t kMostNames = 4;
  std::string text;
  std::uint64_t count = 0;
  for (const LocalizedOperation& operation : record.operations) {
    if (holds(operation) && ++count <= kMostNames) {
      text += (text.empty() ? "" : ", ") + visible(operation.name);
    }
  }
  return count > kMostNames ? text + fmt::format(" and {} more", count - kMostNames) : text;
}

std::string reentry_words(const LocalizeRecord& record) {
  if (record.reentries.empty()) {
    return "no change comes from the KV cache";
  }
  double largest = 0;
  for (const CacheReentry& reentry : record.reentries) {
    largest = std::max(largest, reentry.max_abs_diff);
  }
  return fmt::format(
      "changes of earlier steps re-enter from the KV cache at {}, first {}; largest "
      "|Δ| {}",
      counted(record.reentries.size(), "operation"), visible(record.reentries.front().operation),
      short_number(largest));
}

}  // namespace

std::string ranges_in_words(const std::vector<LengthRange>& ranges) {
  constexpr std::size_t kMostRanges = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranges.size(), kMostRanges); ++i) {
    text += text.empty() ? "" : ", ";
    text += ranges[i].first == ranges[i].last
                ? fmt::format("{}", ranges[i].first)
                : fmt::format("{}–{}", ranges[i].first, ranges[i].last);
  }
  if (ranges.size() > kMostRanges) {
    text += fmt::format(" and {} more", counted(ranges.size() - kMostRanges, "range"));
  }
  return text.empty() ? "none" : text;
}

std::string localize_table(const View& view, bool colour) {
  const LocalizeRecord& record = *view.report().localize;
  std::string text = report_heading(view) + "\n" + pass_line(view) + "\n" +
                     growth_table(record, colour) + own_table(record, colour);
  for (const IsolatedOperation& isolated : record.isolation) {
    text += isolation_text(isolated);
  }
  return text;
}

std::string localize_headline(const Report& report) {
  const LocalizeRecord& record = *report.localize;
  const std::vector<KindCount> kinds = own_kinds(record);
  if (kinds.empty()) {
    return count_if(record, is_changed) == 0
               ? fmt::format("nothing differs: all {} give the same bits",
                             counted(record.operations.size(), "operation"))
               : "outputs differ, but no operation was shown to change by itself";
  }
  const bool whole = std::all_of(kinds.begin(), kinds.end(),
                                 [](const KindCount& count) { return count.own == count.all; });
  const std::string blocks = in_blocks(kinds[0]);
  std::string text;
  for (std::size_t i = 0; i < std::min(kinds.size(), kMostKinds); ++i) {
    text += (text.empty() ? "" : ", ") + visible(kinds[i].kind);
    text += whole || kinds.size() == 1 ? "" : in_brackets(in_blocks(kinds[i]));
  }
  if (kinds.size() > kMostKinds) {
    text += fmt::format(" and {} more", counted(kinds.size() - kMostKinds, "kind"));
  }
  text += " " + own_words(report, kinds.size() > 1);
  if (kinds.size() > 1) {
    return whole ? text + ", wherever they occur" : text;
  }
  return blocks.empty() ? text : text + ", " + blocks;
}

std::vector<std::string> localize_details(const Report& report) {
  const LocalizeRecord& record = *report.localize;
  std::vector<std::string> details;
  if (record.first_difference) {
    details.push_back(first_difference_words(record));
  }
  details.push_back(proof_words(record));
  if (count_if(record, is_not_replayable) > 0) {
    details.push_back("not replayable, A's own inputs give A other bits once more: " +
                      named_few(record, is_not_replayable));
  }
  if (count_if(record, is_unexplained) > 0) {
    details.push_back("other bits on equal inputs in B's own pass, but not when replayed: " +
                      named_few(record, is_unexplained) +
                      "; where a tensor lies in memory may be the reason");
  }
  if (record.cached && record.first_difference) {
    details.push_back(reentry_words(record));
  }
  return details;
}

}  // namespace drift
