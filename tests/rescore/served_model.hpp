#pragma once

#include <cstdint>
#include <vector>

#include "driftaudit/rescore.hpp"

namespace drift {

/// What this made model says after some ids: 300 logits, a figure of all of them.
std::vector<float> served_logits(const std::vector<std::int32_t>& ids);

/// How a server of it differs from a prefill.
struct Server {
  LogprobRule rule = {};
  double noise = 0;       ///< standard deviation of what is added to each logit
  bool bfloat16 = false;  ///< logits are rounded to it
  std::uint64_t seed = 1;
  std::size_t requests = 6;  ///< of 20 tokens each
};

/// Answers that it sampled; as a file's.
std::vector<DecodedRequest> served(const Server& server);

/// Reads the model's own logits.
LogitsReader served_reader();

/// Options for a file that was scored by it in float32, with its own noise of some 1e-6.
RescoreOptions file_options();

RescoreRecord rescored_file(const std::vector<DecodedRequest>& requests,
                            const RescoreOptions& options = file_options());

}  // namespace drift
