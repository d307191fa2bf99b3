#include "driftaudit/output_head.hpp"

#include <fmt/core.h>

namespace drift {

HeadChoice head_choice(const std::string& option) {
  if (option == "tied") {
    return HeadChoice::kTied;
  }
  return option == "stored" ? HeadChoice::kStored : HeadChoice::kConfig;
}

std::string head_warning(const StoredHead& head, bool config_tied, HeadChoice choice) {
  if (head.differing == 0 || (!config_tied && choice != HeadChoice::kTied)) {
    return "";
  }
  const std::string differs = fmt::format(
      "the checkpoint stores an output head of its own, {} of {} elements other than "
      "the token embedding's",
      head.differing, head.elements);
  if (!config_tied) {
    return differs +
           ", and config.json says to use it; the embedding is used, as --output-head "
           "tied asks, which no release of transformers does";
  }
  const std::string tied =
      differs +
      ", but config.json ties the two (\"tie_word_embeddings\" is true unless it says "
      "otherwise)";
  switch (choice) {
    case HeadChoice::kConfig:
      return tied +
             "; the embedding is used, as transformers 4 does, while transformers 5 uses "
             "the stored head: --output-head stored";
    case HeadChoice::kTied:
      return tied +
             "; the embedding is used, as --output-head tied asks and transformers 4 does, "
             "while transformers 5 uses the stored head";
    case HeadChoice::kStored:
      break;
  }
  return tied +
         "; the stored head is used, as --output-head stored asks and transformers 5 does, "
         "while transformers 4 uses the embedding";
}

}  // namespace drift
