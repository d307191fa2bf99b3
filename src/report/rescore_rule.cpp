#include "report/rescore_rule.hpp"

#include <fmt/format.h>

#include "report/verdict.hpp"
#include "report/view.hpp"

namespace drift {
namespace {

void append(const std::string& what, const std::string& separator, std::string& text) {
  text += (text.empty() ? "" : separator) + what;
}

}  // namespace

std::string rule_in_words(const LogprobRule& rule) {
  std::string text;
  if (rule.base != 0) {
    append(fmt::format("base {}", rule.base), ", ", text);
  }
  if (rule.temperature != 1) {
    append(fmt::format("temperature {:.6g}", rule.temperature), ", ", text);
  }
  if (rule.top_k > 0) {
    append(fmt::format("renormalised over the {} highest", rule.top_k), ", ", text);
  }
  if (rule.top_p < 1) {
    append(fmt::format("renormalised over the top-p {:.6g}", rule.top_p), ", ", text);
  }
  if (rule.shift != 0) {
    append(rule.shift > 0 ? "each stands one token too early" : "each stands one token too late",
           ", ", text);
  }
  if (rule.before != 0) {
    append(rule.before > 0 ? "with end-of-text before each prompt"
                           : "without each prompt's first token",
           ", ", text);
  }
  return text;
}

std::string rule_detail(const RescoreRule& rule) {
  if (rule.given) {
    return "taken as the options say: " + rule_in_words(rule.rule);
  }
  const std::string fitted =
      rule.fitted > 0 ? fmt::format("fitted on {}, ", counted(rule.fitted, "token")) : "";
  return fmt::format(
      "consistent with {}: {}confirmed on all {}; what remains has a median of {} "
      "and is at most {}",
      rule_in_words(rule.rule), fitted, rule.tokens, short_number(rule.median),
      short_number(rule.max));
}

std::string rule_options(const LogprobRule& rule) {
  if (rule.shift != 0 || rule.before != 0) {
    return "";
  }
  std::string text;
  if (rule.temperature != 1) {
    append(fmt::format("--logprobs-temperature {}", rule.temperature), " ", text);
  }
  if (rule.top_k > 0) {
    append(fmt::format("--logprobs-top-k {}", rule.top_k), " ", text);
  }
  if (rule.top_p < 1) {
    append(fmt::format("--logprobs-top-p {}", rule.top_p), " ", text);
  }
  if (rule.base != 0) {
    append(fmt::format("--logprobs-base {}", rule.base), " ", text);
  }
  return text;
}

std::string noise_in_words(const RescoreRecord& record) {
  if (!coarse_throughout(record) || (record.rule && !record.rule->given)) {
    return "";
  }
  const RescoreNoise& noise = *record.noise;
  std::string text = fmt::format("the quietest request is {} apart", short_number(noise.quietest));
  if (noise.own) {
    text += fmt::format(", the build's own decoding {}", short_number(*noise.own));
  }
  return text +
         ": if the server computed in float32, all of the file is wrong; see it with "
         "--outlier 0.001";
}

}  // namespace drift
