#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace drift {

/// What tokenizer.json's `normalizer` makes of a text before it is cut into words.
///
/// Prepend, Replace (of a string), Strip and sequences of them are known for every text; NFC, NFD,
/// NFKC, NFKD, Lowercase and StripAccents only where they need no table of Unicode: of text whose
/// code points all lie in the range where the form changes nothing (Lowercase: Latin-1).
class Normalizer {
 public:
  using Refuse = std::function<void(const std::string&)>;  ///< throws

  Normalizer() = default;
  /// From the value of "normalizer", null included; calls `refuse` for one that isn't known.
  Normalizer(const nlohmann::json& value, const Refuse& refuse);

  bool empty() const { return steps_.empty(); }
  /// Errors (usage): a code point that a step isn't known for, named with the step.
  std::string apply(std::string_view text) const;

 private:
  using Step = std::function<std::string(const std::string&)>;
  void add(const nlohmann::json& value, const Refuse& refuse);

  std::vector<Step> steps_;
};

}  // namespace drift
