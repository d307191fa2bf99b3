#include "rescore/served_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

namespace drift {
namespace {

constexpr std::size_t kVocabulary = 300;
constexpr std::size_t kTokens = 20;
constexpr std::int32_t kEndOfText = 299;

float in_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fffU + ((bits >> 16U) & 1U)) & 0xffff0000U);
}

std::vector<float> as_served(const Server& server, std::vector<float> logits,
                             std::mt19937_64& random) {
  std::normal_distribution<double> noise(0, 1);
  for (float& logit : logits) {
    logit += static_cast<float>(server.noise * noise(random));
    logit = server.bfloat16 ? in_bfloat16(logit) : logit;
  }
  return logits;
}

/// A token that the rule leaves, drawn by its probability.
std::int32_t drawn(const LogprobRule& rule, const std::vector<float>& logits,
                   std::mt19937_64& random) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double logprob = rule_logprob(rule, logits, static_cast<std::int32_t>(i));
    weights.push_back(std::exp(rule.base == 0 ? logprob : logprob * std::log(rule.base)));
  }
  return static_cast<std::int32_t>(
      std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(random));
}

void shift(std::int32_t by, std::vector<double>& logprobs) {
  const auto begin = logprobs.begin();
  if (by > 0) {
    std::rotate(begin, begin + 1, logprobs.end());
  } else if (by < 0) {
    std::rotate(begin, logprobs.end() - 1, logprobs.end());
  }
}

}  // namespace

std::vector<float> served_logits(const std::vector<std::int32_t>& ids) {
  std::uint64_t state = 0;
  for (const std::int32_t id : ids) {
    state =
        state * 6364136223846793005ULL + static_cast<std::uint64_t>(id) + 1442695040888963407ULL;
  }
  std::mt19937_64 random(state);
  std::normal_distribution<double> logit(2, 2.5);
  std::vector<float> logits;
  for (std::size_t i = 0; i < kVocabulary; ++i) {
    logits.push_back(static_cast<float>(logit(random)));
  }
  return logits;
}

std::vector<DecodedRequest> served(const Server& server) {
  std::mt19937_64 random(server.seed);
  std::vector<DecodedRequest> requests;
  for (std::size_t r = 0; r < server.requests; ++r) {
    DecodedRequest request;
    request.mode = "given";
    request.prompt = static_cast<std::uint32_t>(r + 1);
    request.request_id = "r" + std::to_string(r + 1);
    request.prompt_ids = {static_cast<std::int32_t>(r), 7, static_cast<std::int32_t>(3 * r)};
    std::vector<std::int32_t> ids = request.prompt_ids;
    if (server.rule.before > 0) {
      ids.insert(ids.begin(), kEndOfText);
    } else if (server.rule.before < 0) {
      ids.erase(ids.begin());
    }
    for (std::size_t i = 0; i < kTokens; ++i) {
      const std::vector<float> logits = as_served(server, served_logits(ids), random);
      request.tokens.push_back(drawn(server.rule, logits, random));
      request.logprobs.push_back(rule_logprob(server.rule, logits, request.tokens.back()));
      ids.push_back(request.tokens.back());
    }
    shift(server.rule.shift, request.logprobs);
    requests.push_back(request);
  }
  return requests;
}

LogitsReader served_reader() {
  return [](const std::vector<ScoredText>& texts, const LogitsVisitor& visit) {
    for (std::size_t t = 0; t < texts.size(); ++t) {
      for (std::size_t at = texts[t].first; at < texts[t].ids.size(); ++at) {
        const auto end = texts[t].ids.begin() + static_cast<std::ptrdiff_t>(at);
        visit(t, at - texts[t].first, served_logits({texts[t].ids.begin(), end}));
      }
    }
  };
}

RescoreOptions file_options() {
  RescoreOptions options;
  options.n_positions = 1024;
  options.dtype_known = false;
  options.own = 1e-6;
  options.end_of_text = kEndOfText;
  return options;
}

RescoreRecord rescored_file(const std::vector<DecodedRequest>& requests,
                            const RescoreOptions& options) {
  const LogitsReader reader = served_reader();
  const Scoring scoring{0, options.rule.value_or(LogprobRule{})};
  return rescore(requests, scorer_from(reader, scoring), options, reader);
}

}  // namespace drift
