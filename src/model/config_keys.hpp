#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace drift {

/// Typed access to the keys of a config.json or a file like it. A null is a value: whether it
/// counts as absent, the key's reader says. Errors (usage) name file, key and value.
class ConfigKeys {
 public:
  explicit ConfigKeys(const std::filesystem::path& file);

  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const;

  /// The value, be it null; nothing where the key is absent.
  const nlohmann::json* find(const char* key) const;
  /// The value unless it is null.
  const nlohmann::json* find_set(const char* key) const;

  /// A whole number from 1 to `most`; the key must be there.
  std::uint32_t size(const char* key, std::uint32_t most) const;
  /// True or false; `otherwise` where the key is absent. A null is refused: releases of
  /// transformers differ in what they make of it.
  bool flag(const char* key, bool otherwise) const;

 private:
  std::string where_;
  nlohmann::json json_;
};

}  // namespace drift
