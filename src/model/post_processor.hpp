#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace drift {

/// The ids that tokenizer.json's `post_processor` puts around those of a text.
struct Surrounding {
  std::vector<std::int32_t> before;
  std::vector<std::int32_t> after;
};

/// From the value of "post_processor", null included: ByteLevel, TemplateProcessing,
/// RobertaProcessing, BertProcessing, and sequences of them. Calls `refuse`, which throws, for
/// another.
Surrounding read_post_processor(const nlohmann::json& value,
                                const std::function<void(const std::string&)>& refuse);

}  // namespace drift
