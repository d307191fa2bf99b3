#include <algorithm>
#include <cmath>
#include <cstddef>

#include "driftaudit/rescore.hpp"

namespace drift {
namespace {

RescoreAlone against(const DecodedRequest& batched, const DecodedRequest& alone) {
  RescoreAlone found;
  const std::size_t most = std::min(batched.tokens.size(), alone.tokens.size());
  std::size_t same = 0;
  while (same < most && batched.tokens[same] == alone.tokens[same]) {
    const double delta = std::abs(batched.logprobs[same] - alone.logprobs[same]);
    found.max = std::isfinite(delta) ? std::max(found.max, delta) : found.max;
    ++same;
  }
  found.steps = same;
  if (same < std::max(batched.tokens.size(), alone.tokens.size())) {
    found.first_difference = static_cast<std::uint32_t>(same + 1);
  }
  return found;
}

}  // namespace

void compare_alone(const std::vector<DecodedRequest>& batched,
                   const std::vector<DecodedRequest>& alone, RescoreRecord& record) {
  for (std::size_t i = 0; i < batched.size(); ++i) {
    const DecodedRequest& request = batched[i];
    RescoreAlone found;
    for (const DecodedRequest& other : alone) {
      if (other.mode == request.mode && other.prompt == request.prompt) {
        found = against(request, other);
      }
    }
    for (const DecodedRequest& other : alone) {
      if (found.first_difference && !found.answers && other.mode == request.mode &&
          other.prompt != request.prompt && other.tokens == request.tokens) {
        found.answers = other.prompt;
      }
    }
    record.requests[i].alone = found;
  }
}

}  // namespace drift
