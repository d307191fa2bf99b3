#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "driftaudit/file.hpp"

#include "shared/scoped_environment.hpp"

namespace drift::test {

inline fs::path source_folder() { return DRIFTAUDIT_SOURCE_FOLDER; }
inline fs::path mini_folder() { return source_folder() / "models/mini"; }
inline fs::path gpt2_vocabulary_folder() { return source_folder() / "models/gpt2-vocab"; }

/// A folder of the test's own, gone with it.
inline TemporaryFolder scratch_folder() { return {fs::temp_directory_path(), "driftaudit-test"}; }

inline std::string utf8(char32_t c) {
  const auto byte = [](char32_t value) { return static_cast<char>(value); };
  if (c < 0x80) {
    return {byte(c)};
  }
  if (c < 0x800) {
    return {byte(0xc0 | (c >> 6)), byte(0x80 | (c & 0x3f))};
  }
  if (c < 0x10000) {
    return {byte(0xe0 | (c >> 12)), byte(0x80 | ((c >> 6) & 0x3f)), byte(0x80 | (c & 0x3f))};
  }
  return {byte(0xf0 | (c >> 18)), byte(0x80 | ((c >> 12) & 0x3f)), byte(0x80 | ((c >> 6) & 0x3f)),
          byte(0x80 | (c & 0x3f))};
}

inline std::string utf8(std::u32string_view text) {
  std::string result;
  for (const char32_t c : text) {
    result += utf8(c);
  }
  return result;
}

}  // namespace drift::test
