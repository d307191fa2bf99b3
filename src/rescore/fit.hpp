#pragma once

#include <cstdint>
#include <vector>

#include "driftaudit/rescore_record.hpp"

namespace drift {

/// A token that a rule is fitted on: all logits before it, from the highest down, where the token
/// stands among them, and what the file says of it.
struct FitToken {
  std::vector<double> logits;  ///< all finite
  std::size_t place = 0;       ///< from 0
  double said = 0;
};

/// What a rule gives such a token: see rule_logprob().
double fitted_logprob(const LogprobRule& rule, const FitToken& token);

/// The median |difference| of what a rule gives and what is said.
double misfit(const LogprobRule& rule, const std::vector<FitToken>& tokens);

/// Rules that could explain what is said of the tokens, the simplest first, each with numbers
/// rounded as people write them as far as `noise` allows. None is tested for being true.
std::vector<LogprobRule> fitted_rules(const std::vector<FitToken>& tokens, double noise);

}  // namespace drift
