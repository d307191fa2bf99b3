#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driftaudit/model_config.hpp"
#include "driftaudit/tokenizer.hpp"

namespace drift {

struct Prompt {
  std::string text;               ///< UTF-8; of given ids what isn't shows as U+FFFD
  std::vector<std::int32_t> ids;  ///< never empty
};

struct PromptSet {
  std::string name;  ///< "eight", or the file as named
  std::vector<Prompt> prompts;
};

/// A shipped set by its name ("eight", "alice-200") or a file. A text file is one prompt a line
/// with C-style escapes (blank lines skipped, CRLF taken, `#` is text); a .json file is an array of
/// strings or of arrays of ids, or of objects with "text" or "ids". Errors (usage) name file and
/// line: missing, empty, not UTF-8, a bad escape, an id outside the vocabulary, a prompt longer
/// than the model's context.
PromptSet load_prompts(const std::string& name, const Tokenizer& tokenizer,
                       const ModelConfig& config);

}  // namespace drift
