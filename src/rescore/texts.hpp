#pragma once

#include "driftaudit/rescore.hpp"

namespace drift {

/// Prompt and answer, the answer scored.
inline ScoredText text_of(const DecodedRequest& request) {
  ScoredText text{request.prompt_ids, request.prompt_ids.size()};
  text.ids.insert(text.ids.end(), request.tokens.begin(), request.tokens.end());
  return text;
}

}  // namespace drift
