// How many steps a second the driver compares (two reduce_step, one compare_logits), beside a plain
// implementation of the same figures. The last line is the ratio.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <fmt/core.h>

#include "driftaudit/step.hpp"
#include "driftaudit/step_difference.hpp"
#include "driftaudit/ulp.hpp"

namespace {

constexpr std::size_t kVocabulary = 50257;
constexpr std::size_t kKeepTop = 64;
constexpr double kSeconds = 1.0;

double plain_log_sum_exp(const std::vector<float>& logits) {
  const double max = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(logit - max);
  }
  return max + std::log(sum);
}

double plain_step(const std::vector<float>& a, const std::vector<float>& b) {
  double result = 0;
  for (const auto* logits : {&a, &b}) {
    std::vector<std::size_t> ids(logits->size());
    std::iota(ids.begin(), ids.end(), 0);
    std::stable_sort(ids.begin(), ids.end(),
                     [&](std::size_t x, std::size_t y) { return (*logits)[x] > (*logits)[y]; });
    result += (*logits)[ids[0]] - (*logits)[ids[1]];
  }
  const double log_sum_a = plain_log_sum_exp(a);
  const double log_sum_b = plain_log_sum_exp(b);
  double kl = 0;
  double max_abs = 0;
  std::uint64_t max_ulp = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    max_abs = std::max(max_abs, std::abs(double{b[i]} - double{a[i]}));
    max_ulp = std::max(max_ulp, drift::ulp_distance(a[i], b[i]));
    const double log_p = a[i] - log_sum_a;
    kl += std::exp(log_p) * (log_p - (b[i] - log_sum_b));
  }
  return result + kl + max_abs + static_cast<double>(max_ulp);
}

double our_step(const std::vector<float>& a, const std::vector<float>& b) {
  const drift::Step step_a = drift::reduce_step(0, a, kKeepTop);
  const drift::Step step_b = drift::reduce_step(0, b, kKeepTop);
  return drift::compare_logits(a, b).max_abs + step_a.gap + step_b.gap;
}

/// The fastest of the calls that fit into kSeconds: what other work on the machine slows least.
template <class Function>
double milliseconds(Function function) {
  using Clock = std::chrono::steady_clock;
  volatile double keep = 0;
  double fastest = kSeconds;
  for (const auto end = Clock::now() + std::chrono::duration<double>(kSeconds);
       Clock::now() < end;) {
    const auto begin = Clock::now();
    keep = keep + function();
    fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return fastest * 1000;
}

}  // namespace

int main() {
  std::mt19937 generator(1234);
  std::normal_distribution<float> logit(-90, 4);
  std::normal_distribution<float> drift_of_it(0, 3e-5F);
  std::vector<float> a(kVocabulary);
  std::vector<float> b(kVocabulary);
  for (std::size_t i = 0; i < kVocabulary; ++i) {
    a[i] = logit(generator);
    b[i] = a[i] + drift_of_it(generator);
  }
  fmt::print("{} logits a step\n", kVocabulary);
  fmt::print("reduce_step             {:8.3f} ms\n",
             milliseconds([&] { return drift::reduce_step(0, a, kKeepTop).gap; }));
  fmt::print("compare_logits, equal   {:8.3f} ms\n",
             milliseconds([&] { return drift::compare_logits(a, a).gap_a; }));
  fmt::print("compare_logits, changed {:8.3f} ms\n",
             milliseconds([&] { return drift::compare_logits(a, b).max_abs; }));
  const double ours = milliseconds([&] { return our_step(a, b); });
  const double plain = milliseconds([&] { return plain_step(a, b); });
  fmt::print("a step, both sides      {:8.3f} ms\n", ours);
  fmt::print("the same, plainly       {:8.3f} ms\n", plain);
  fmt::print("ratio                   {:8.1f}\n", plain / ours);
  return 0;
}
