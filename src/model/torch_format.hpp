#pragma once

#include <cstdint>
#include <string_view>

namespace drift::torch_format {

/// torch.serialization's MAGIC_NUMBER, 0x1950a86a20f9469cfc6c, in the two ways that pickle writes
/// it, and its PROTOCOL_VERSION: how a legacy file begins.
inline constexpr std::string_view kMagicBytes("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
inline constexpr std::string_view kMagicDigits = "119547037146038801333356";
inline constexpr std::int64_t kProtocol = 1001;

}  // namespace drift::torch_format
