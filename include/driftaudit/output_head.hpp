#pragma once

#include <cstdint>
#include <string>

namespace drift {

/// Which output head a model is run with.
enum class HeadChoice {
  kConfig,  ///< the one that config.json says: the token embedding unless "tie_word_embeddings" is
            ///< false
  kTied,    ///< the token embedding
  kStored   ///< the checkpoint's own lm_head.weight
};

/// The choice by its option: "" (kConfig), "tied", "stored".
HeadChoice head_choice(const std::string& option);

/// What a checkpoint holds of an output head.
struct StoredHead {
  std::uint64_t elements = 0;   ///< of its lm_head.weight; 0: it stores none
  std::uint64_t differing = 0;  ///< how many of them have other bits than the token embedding's
};

/// What there is to say when releases of transformers differ in the head that they use, or when
/// the choice isn't theirs; else an empty text. `config_tied` is what config.json says.
std::string head_warning(const StoredHead& head, bool config_tied, HeadChoice choice);

}  // namespace drift
