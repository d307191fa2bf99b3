#include "model/shown.hpp"

namespace drift {

std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 120)) {
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  }
  return text.size() > 120 ? result + "…" : result;
}

}  // namespace drift
