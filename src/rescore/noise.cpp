#include "rescore/noise.hpp"

#include <algorithm>
#include <cmath>

#include "driftaudit/order_statistics.hpp"
#include "driftaudit/rescore.hpp"

namespace drift {
namespace {

constexpr double kMostProbability = 0.9;
constexpr std::size_t kLeastTelling = 4;

// In steps of the type. Measured: see docs/rescore.md.
constexpr double kMostFloat32Steps = 1024;
constexpr double kLeastHalfSteps = 4;
constexpr double kMostHalfSteps = 12;

double logit_magnitude(const TokenScore& score) {
  return std::max(std::abs(score.logit), std::abs(score.logit + score.margin));
}

/// The smallest scale of a request; of all tokens together where no request has enough of them.
double quietest_of(const std::vector<DecodedRequest>& requests, const std::vector<double>& deltas,
                   const std::vector<double>& logprobs) {
  std::optional<double> quietest;
  std::size_t at = 0;
  for (const DecodedRequest& request : requests) {
    const auto from = static_cast<std::ptrdiff_t>(at);
    at += request.tokens.size();
    const auto to = static_cast<std::ptrdiff_t>(at);
    const std::optional<double> scale =
        noise_scale({deltas.begin() + from, deltas.begin() + to},
                    {logprobs.begin() + from, logprobs.begin() + to});
    if (scale) {
      quietest = std::min(quietest.value_or(*scale), *scale);
    }
  }
  return quietest ? *quietest : noise_scale(deltas, logprobs).value_or(0);
}

/// How many steps of its own type the scorer's own noise is: what it makes of one step of rounding.
/// At least 1.
double amplification(const RescoreOptions& options, double magnitude) {
  const double step = step_at(options.dtype, magnitude);
  return std::max(1.0, options.own.value_or(0) / step);
}

}  // namespace

double step_at(const std::string& dtype, double magnitude) {
  const int bits = dtype == "bfloat16" ? 7 : dtype == "float16" ? 10 : 23;
  const double held = std::isfinite(magnitude) ? std::max(magnitude, 1.0) : 1.0;
  return std::ldexp(1.0, std::ilogb(held) - bits);
}

double logit_step(const std::string& dtype, const TokenScore& score) {
  return step_at(dtype, logit_magnitude(score));
}

std::optional<double> noise_scale(const std::vector<double>& deltas,
                                  const std::vector<double>& logprobs) {
  std::vector<double> scales;
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    const double probability = std::exp(logprobs[i]);
    if (std::isfinite(deltas[i]) && probability <= kMostProbability) {
      scales.push_back(deltas[i] / (1 - probability));
    }
  }
  return scales.size() < kLeastTelling ? std::nullopt : median(scales);
}

RescoreNoise measured_noise(const std::vector<DecodedRequest>& requests,
                            const std::vector<double>& deltas,
                            const std::vector<TokenScore>& scores, const RescoreOptions& options) {
  std::vector<double> magnitudes;
  std::vector<double> logprobs;
  for (const TokenScore& score : scores) {
    magnitudes.push_back(logit_magnitude(score));
    logprobs.push_back(score.logprob);
  }
  const double magnitude = median(magnitudes).value_or(1);
  RescoreNoise noise;
  noise.quietest = quietest_of(requests, deltas, logprobs);
  noise.own = options.own;
  noise.dtype = options.dtype_known ? options.dtype : "bfloat16";
  noise.step = step_at(noise.dtype, magnitude);
  const bool half = options.dtype != "float32";
  noise.least = kLeastRescoreLimit;
  if (half) {
    noise.least = std::max(noise.least, kLeastHalfSteps * step_at(options.dtype, magnitude));
  }
  noise.most = noise.dtype == "float32"
                   ? kMostFloat32Steps * noise.step
                   : kMostHalfSteps * noise.step * amplification(options, magnitude);
  noise.most = std::max(noise.most, noise.least);
  return noise;
}

double rescore_limit(const RescoreNoise& noise) {
  const double scale = std::max(noise.quietest, noise.own.value_or(0));
  return std::clamp(kNoiseTimes * scale, noise.least, noise.most);
}

}  // namespace drift
