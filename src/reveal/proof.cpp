// Compiled with -ffp-contract=off: the finish is rounded as written.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "driftaudit/error.hpp"
#include "driftaudit/order_words.hpp"
#include "driftaudit/tree_proof.hpp"

#include "reveal/probes.hpp"
#include "runner/split_mix.hpp"

namespace drift {
namespace {

using Values = std::span<const float>;

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// Rows that each candidate has replayed; finds the best of them.
class Tally {
 public:
  explicit Tally(std::size_t candidates) : proved_(candidates, 0) {}
  void add(std::size_t candidate) { ++proved_[candidate]; }
  std::size_t best() const {
    return static_cast<std::size_t>(std::max_element(proved_.begin(), proved_.end()) -
                                    proved_.begin());
  }
  std::size_t proved_rows() const { return proved_[best()]; }

 private:
  std::vector<std::size_t> proved_;
};

void check_candidates(std::size_t candidates, const ProofOptions& options) {
  if (candidates == 0 || options.rows == 0) {
    throw usage_error("a proof needs rows to try and something to try on them");
  }
}

float random_term(SplitMix64& random) {
  return std::ldexp(random.symmetric(), static_cast<int>(random.below(9)) - 4);
}

/// All random rows, so that they don't hang on how calls are batched.
std::vector<float> random_values(const SumTree& tree, const ProofOptions& options,
                                 const std::function<float(SplitMix64&)>& draw,
                                 std::uint64_t stream = 0) {
  SplitMix64 random(options.seed + (stream << 32));
  std::vector<float> values(options.rows * tree.terms());
  std::generate(values.begin(), values.end(), [&] { return draw(random); });
  return values;
}

/// Calls with the rows of `values`; `asked` rows from `first` on count.
void in_calls(
    const SumTree& tree, const ProofOptions& options, const std::vector<float>& values,
    const std::function<void(std::size_t first, std::size_t asked, Values values)>& call) {
  ProbeCount count;
  in_batches(
      options.rows, tree.terms(), options.batching, count,
      [&](std::size_t row, std::span<float> terms) {
        const Values from = Values(values).subspan(row * tree.terms(), tree.terms());
        std::copy(from.begin(), from.end(), terms.begin());
      },
      call);
}

/// x − max, row by row.
std::vector<float> less_maximum(Values values, std::size_t length) {
  std::vector<float> shifted(values.begin(), values.end());
  for (auto row = shifted.begin(); row != shifted.end();) {
    const auto end = row + static_cast<std::ptrdiff_t>(length);
    const float max = *std::max_element(row, end);
    row = std::transform(row, end, row, [=](float x) { return x - max; });
  }
  return shifted;
}

bool replays(Values out, Values terms, float sum, const SoftmaxFinish& finish) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!same_bits(out[i], finish.apply(terms[i], sum))) {
      return false;
    }
  }
  return true;
}

}  // namespace

const std::vector<SumFinish>& sum_finishes() {
  static const std::vector<SumFinish> all = {
      {"as it is", [](float sum, std::size_t /*length*/) { return sum; }}};
  return all;
}

const std::vector<SumFinish>& mean_finishes() {
  static const std::vector<SumFinish> all = {
      {"divided by the length",
       [](float sum, std::size_t length) { return sum / static_cast<float>(length); }},
      {"times the length's reciprocal",
       [](float sum, std::size_t length) { return sum * (1.0F / static_cast<float>(length)); }}};
  return all;
}

const std::vector<SoftmaxFinish>& softmax_finishes() {
  static const std::vector<SoftmaxFinish> all = {
      {"times the sum's reciprocal", [](float term, float sum) { return term * (1.0F / sum); }},
      {"divided by the sum", [](float term, float sum) { return term / sum; }}};
  return all;
}

Proof prove_sum(const RowKernel& sum, const SumTree& tree, std::span<const SumFinish> finishes,
                const ProofOptions& options) {
  check_candidates(finishes.size(), options);
  Tally tally(finishes.size());
  const std::size_t length = tree.terms();
  in_calls(tree, options, random_values(tree, options, random_term),
           [&](std::size_t /*first*/, std::size_t asked, Values values) {
             const std::vector<float> out = sum(values.size() / length, length, values);
             check_outputs(out.size(), values.size() / length);
             for (std::size_t row = 0; row < asked; ++row) {
               const float total = evaluate_sum(tree, values.subspan(row * length, length));
               for (std::size_t f = 0; f < finishes.size(); ++f) {
                 if (same_bits(out[row], finishes[f].apply(total, length))) {
                   tally.add(f);
                 }
               }
             }
           });
  return {"", finishes[tally.best()].name, options.rows, tally.proved_rows()};
}

Proof prove_dot(const DotKernel& dot, const SumTree& tree, const ProofOptions& options) {
  check_candidates(1, options);
  Tally tally(1);
  const std::size_t length = tree.terms();
  const std::vector<float> all_b = random_values(tree, options, random_term, 1);
  in_calls(tree, options, random_values(tree, options, random_term),
           [&](std::size_t first, std::size_t asked, Values a) {
             std::vector<float> b(a.size(), 1.0F);
             const auto from = all_b.begin() + static_cast<std::ptrdiff_t>(first * length);
             std::copy(from, from + static_cast<std::ptrdiff_t>(asked * length), b.begin());
             const std::vector<float> out = dot(a.size() / length, length, a, b);
             check_outputs(out.size(), a.size() / length);
             for (std::size_t row = 0; row < asked; ++row) {
               const float total = evaluate_dot(tree, a.subspan(row * length, length),
                                                Values(b).subspan(row * length, length));
               if (same_bits(out[row], total)) {
                 tally.add(0);
               }
             }
           });
  return {"", "as it is", options.rows, tally.proved_rows()};
}

Proof prove_softmax(const RowKernel& softmax, const SumTree& tree,
                    std::span<const Exponential> exponentials,
                    std::span<const SoftmaxFinish> finishes, const ProofOptions& options) {
  check_candidates(exponentials.size() * finishes.size(), options);
  Tally tally(exponentials.size() * finishes.size());
  const std::size_t length = tree.terms();
  const auto draw = [](SplitMix64& random) { return random.symmetric(4); };
  in_calls(tree, options, random_values(tree, options, draw),
           [&](std::size_t /*first*/, std::size_t asked, Values values) {
             const std::size_t rows = values.size() / length;
             const std::vector<float> out = softmax(rows, length, values);
             check_outputs(out.size(), values.size());
             const std::vector<float> shifted = less_maximum(values, length);
             for (std::size_t e = 0; e < exponentials.size(); ++e) {
               const std::vector<float> terms = exponentials[e].apply(rows, length, shifted);
               check_outputs(terms.size(), values.size());
               for (std::size_t row = 0; row < asked; ++row) {
                 const Values row_terms = Values(terms).subspan(row * length, length);
                 const float total = evaluate_sum(tree, row_terms);
                 for (std::size_t f = 0; f < finishes.size(); ++f) {
                   if (replays(Values(out).subspan(row * length, length), row_terms, total,
                               finishes[f])) {
                     tally.add(e * finishes.size() + f);
                   }
                 }
               }
             }
           });
  return {exponentials[tally.best() / finishes.size()].name,
          finishes[tally.best() % finishes.size()].name, options.rows, tally.proved_rows()};
}

RevealedOrder revealed_order(std::string operation, std::size_t length, const Revealed& revealed,
                             const Proof& proof, std::size_t lanes) {
  RevealedOrder order;
  order.operation = std::move(operation);
  order.length = length;
  order.probes = revealed.probes;
  if (!revealed.tree) {
    order.status = "not explained";
    order.why_not = revealed.why_not;
    return order;
  }
  order.status = proof.proved() ? "proved" : "consistent";
  order.tree = tree_text(*revealed.tree);
  order.fold = order_words(*revealed.tree, lanes);
  order.proof = proof;
  return order;
}

}  // namespace drift
