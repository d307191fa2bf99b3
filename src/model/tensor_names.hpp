#pragma once

#include <string>
#include <string_view>

namespace drift {

/// GPT-2's own name of a stored tensor, "h.0.ln_1.weight": without the "transformer.", "model." and
/// "module." that a name may begin with, in any combination, and without the names that torch's
/// compiled and sharded modules put in between ("_orig_mod.", …).
std::string gpt2_tensor_name(std::string_view stored);

/// "h.3.attn.bias" and "h.3.attn.masked_bias": constants that older releases of transformers saved.
/// Takes GPT-2's own names.
bool is_mask(std::string_view name);
bool is_masked_value(std::string_view name);

/// The module that a tensor of another head than the language model's belongs to ("v_head",
/// "multiple_choice_head", "score", "classifier", "qa_outputs"), or an empty view.
std::string_view other_head(std::string_view name);

}  // namespace drift
