#include "driftaudit/isolation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/tensor.hpp"

#include "localize/random_rows.hpp"

namespace drift {
namespace {

/// What one call gave, a row after the other.
struct RowResults {
  std::vector<float> a, b;
  std::size_t rows = 1;

  static bool row_equal(const std::vector<float>& x, const std::vector<float>& y, std::size_t row,
                        std::size_t width) {
    return width == 0 ||
           std::memcmp(x.data() + row * width, y.data() + row * width, width * sizeof(float)) == 0;
  }
  std::size_t width() const { return a.size() / rows; }
  std::uint64_t rows_that_differ() const {
    std::uint64_t count = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      count += row_equal(a, b, row, width()) ? 0U : 1U;
    }
    return count;
  }
};

/// Whether the rows of the shorter call have the same bits in the longer one.
bool same_bits(const std::vector<float>& shorter, const std::vector<float>& longer) {
  return shorter.empty() ||
         std::memcmp(shorter.data(), longer.data(), shorter.size() * sizeof(float)) == 0;
}

/// `inputs` gives those of a call on `count` rows.
template <class Inputs>
RowResults ask_on(KernelPair kernels, std::uint64_t count, const Inputs& inputs) {
  for (AskedKernel* kernel : {kernels.a, kernels.b}) {
    kernel->call(inputs());
  }
  RowResults results;
  results.rows = count;
  results.a = float_elements(kernels.a->result());
  results.b = float_elements(kernels.b->result());
  if (results.a.size() != results.b.size() || results.a.size() % count != 0) {
    throw trouble(fmt::format("an isolated operation gave {} and {} elements for {} rows",
                              results.a.size(), results.b.size(), count));
  }
  return results;
}

RowResults ask(KernelPair kernels, const RandomRows& rows, std::uint64_t count,
               std::uint64_t alignment) {
  return ask_on(kernels, count,
                [&] { return rows.inputs(count, static_cast<std::uint32_t>(alignment)); });
}

/// One kind of variation, by the lengths at which it moved a side's bits.
struct Variation {
  std::string name;
  std::vector<std::uint64_t> tried;
  std::vector<bool> moves_a, moves_b;
};

const char* row_words(RowFamily family) {
  switch (family) {
    case RowFamily::kAddmm:
    case RowFamily::kLinear:
    case RowFamily::kMatmul:
    case RowFamily::kMatmulTransposed:
      return "the terms of a product's sums";
    case RowFamily::kUnary:
    case RowFamily::kBinary:
    case RowFamily::kNorm:
      return "the last dimension";
    case RowFamily::kAttention:
      return "the number of keys";
    default:
      return "";
  }
}

/// A sweep on its way.
class Sweep {
 public:
  Sweep(RowFamily family, KernelPair base, std::optional<KernelPair> threaded, SweepThreads threads,
        const SweepPlan& plan)
      : family_(family),
        base_(base),
        threaded_(threaded),
        plan_(plan),
        rows_{"rows", plan.rows, {}, {}},
        alignment_{"alignment", plan.alignments, {}, {}},
        threads_{"threads", {threads.base, threads.other}, {}, {}},
        heads_{"heads", plan.rows, {}, {}} {}

  /// False where a side doesn't repeat itself.
  bool try_length(std::uint64_t length) {
    const RandomRows rows(family_, length, plan_.columns, plan_.rows[0], 0);
    const RowResults first = ask(base_, rows, plan_.rows[0], plan_.alignments[0]);
    const RowResults again = ask(base_, rows, plan_.rows[0], plan_.alignments[0]);
    if (!same_bits(first.a, again.a) || !same_bits(first.b, again.b)) {
      return false;
    }
    std::uint64_t differ = first.rows_that_differ();
    for (std::uint64_t batch = 1; batch < plan_.batches; ++batch) {
      const RandomRows others(family_, length, plan_.columns, plan_.rows[0], batch);
      differ += ask(base_, others, plan_.rows[0], plan_.alignments[0]).rows_that_differ();
    }
    differs_ = differ > 0;
    vary(rows, first);
    const std::uint64_t tried = plan_.batches * plan_.rows[0];
    rows_tried_ += tried;
    rows_differ_ += differ;
    rows_tried_where_differ_ += differ > 0 ? tried : 0;
    length_differs_.push_back(differs_);
    return true;
  }

  void put_into(IsolatedOperation& isolated) const {
    std::vector<bool> same = length_differs_;
    same.flip();
    isolated.lengths_differ = ranges_of(plan_.lengths, length_differs_);
    isolated.lengths_same = ranges_of(plan_.lengths, same);
    isolated.rows_tried = rows_tried_;
    isolated.rows_differ = rows_differ_;
    if (rows_tried_where_differ_ > 0) {
      isolated.share_differ =
          static_cast<double>(rows_differ_) / static_cast<double>(rows_tried_where_differ_);
    }
    for (const Variation* variation : {&rows_, &alignment_, &threads_, &heads_}) {
      if (!variation->moves_a.empty()) {
        std::vector<std::uint64_t> tried = variation->tried;
        std::sort(tried.begin(), tried.end());
        isolated.conditions.push_back({variation->name, std::move(tried),
                                       ranges_of(plan_.lengths, variation->moves_a),
                                       ranges_of(plan_.lengths, variation->moves_b)});
      }
    }
  }

 private:
  void vary(const RandomRows& rows, const RowResults& first) {
    begin(rows_);
    for (std::size_t i = 1; i < plan_.rows.size(); ++i) {
      note(rows_, first, ask(base_, rows, plan_.rows[i], plan_.alignments[0]));
    }
    begin(alignment_);
    for (std::size_t i = 1; i < plan_.alignments.size(); ++i) {
      note(alignment_, first, ask(base_, rows, plan_.rows[0], plan_.alignments[i]));
    }
    if (threaded_) {
      begin(threads_);
      note(threads_, first, ask(*threaded_, rows, plan_.rows[0], plan_.alignments[0]));
    }
    if (family_ == RowFamily::kAttention) {
      vary_attention(rows, first);
    }
  }

  void vary_attention(const RandomRows& rows, const RowResults& first) {
    begin(heads_);
    for (const std::uint64_t heads : plan_.rows) {
      note(heads_, first, ask_on(base_, heads, [&] { return rows.heads(heads); }));
    }
    const std::uint64_t queries = rows.length();
    const RowResults prefill = ask_on(base_, queries, [&] { return rows.prefill(); });
    differs_ = differs_ || prefill.rows_that_differ() > 0;
  }

  static void begin(Variation& variation) {
    variation.moves_a.push_back(false);
    variation.moves_b.push_back(false);
  }

  void note(Variation& variation, const RowResults& first, const RowResults& varied) {
    variation.moves_a.back() = variation.moves_a.back() || !same_bits(varied.a, first.a);
    variation.moves_b.back() = variation.moves_b.back() || !same_bits(varied.b, first.b);
    differs_ = differs_ || varied.rows_that_differ() > 0;
  }

  RowFamily family_;
  KernelPair base_;
  std::optional<KernelPair> threaded_;
  const SweepPlan& plan_;
  Variation rows_, alignment_, threads_, heads_;
  bool differs_ = false;  ///< at the length at hand
  std::vector<bool> length_differs_;
  std::uint64_t rows_tried_ = 0;
  std::uint64_t rows_differ_ = 0;
  std::uint64_t rows_tried_where_differ_ = 0;
};

/// Ranges of consecutive numbers.
std::vector<LengthRange> gapless_ranges(const std::vector<std::uint64_t>& numbers) {
  std::vector<LengthRange> ranges;
  for (const std::uint64_t number : numbers) {
    if (!ranges.empty() && ranges.back().last + 1 == number) {
      ranges.back().last = number;
    } else {
      ranges.push_back({number, number});
    }
  }
  return ranges;
}

}  // namespace

SweepPlan full_sweep() {
  constexpr std::uint64_t kEvery = 64;
  constexpr std::uint64_t kLargest = 4096;
  SweepPlan plan;
  for (std::uint64_t length = 1; length <= kEvery; ++length) {
    plan.lengths.push_back(length);
  }
  plan.lengths.push_back(kEvery + 1);
  for (std::uint64_t power = 2 * kEvery; power <= kLargest; power *= 2) {
    plan.lengths.insert(plan.lengths.end(), {power - 1, power, power + 1});
  }
  return plan;
}

std::vector<LengthRange> ranges_of(const std::vector<std::uint64_t>& tried,
                                   const std::vector<bool>& set) {
  std::vector<LengthRange> ranges;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!set[i]) {
      continue;
    }
    if (i > 0 && set[i - 1]) {
      ranges.back().last = tried[i];
    } else {
      ranges.push_back({tried[i], tried[i]});
    }
  }
  return ranges;
}

IsolatedOperation sweep(const std::string& operation, const OperationFunction& function,
                        KernelPair base, std::optional<KernelPair> threaded, SweepThreads threads,
                        const SweepPlan& plan) {
  IsolatedOperation isolated;
  isolated.operation = operation;
  isolated.function = function.name;
  isolated.rows = row_words(function.family);
  Sweep swept(function.family, base, threaded, threads, plan);
  for (const std::uint64_t length : plan.lengths) {
    throw_if_interrupted();
    if (!swept.try_length(length)) {
      isolated.why_not =
          fmt::format("at length {} a side gives other bits on the same rows", length);
      return isolated;
    }
  }
  isolated.lengths_tried = gapless_ranges(plan.lengths);
  swept.put_into(isolated);
  return isolated;
}

}  // namespace drift
