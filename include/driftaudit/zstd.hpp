#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace drift {

/// Compresses a stream into one Zstandard frame with a checksum; what comes out goes to a sink.
class ZstdWriter {
 public:
  using Sink = std::function<void(std::string_view)>;

  explicit ZstdWriter(Sink sink);
  ~ZstdWriter();
  ZstdWriter(const ZstdWriter&) = delete;
  ZstdWriter& operator=(const ZstdWriter&) = delete;

  void write(std::string_view bytes);
  /// Ends the frame. Nothing may be written after it.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One piece on its own, as a frame that knows its size.
std::string zstd_compressed(std::span<const std::byte> bytes);

/// The content of the frames in `bytes`, at most `max_bytes`. Errors (usage) name `file`: not
/// Zstandard, cut short, a checksum that doesn't hold, too large.
std::string zstd_decompressed(std::span<const std::byte> bytes, std::uint64_t max_bytes,
                              const std::string& file);

}  // namespace drift
