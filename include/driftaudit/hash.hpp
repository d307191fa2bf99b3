#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace drift {

/// SHA-256 over a stream of bytes.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view bytes);
  /// The digest in lower-case hexadecimal. Ends the stream: call once.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view bytes);

/// SHA-256 of a file's bytes. `on_bytes(n)` is called after each chunk, for a progress bar.
/// Errors (usage): the file can't be read.
std::string sha256_file(const std::filesystem::path& path,
                        const std::function<void(std::uint64_t)>& on_bytes = {});

/// XXH3-128 of the bytes in its canonical (big-endian) form, 32 hexadecimal digits.
std::string xxh3_128_hex(std::span<const std::byte> bytes);

/// XXH3-64 of the bytes.
std::uint64_t xxh3_64(std::span<const std::byte> bytes);

}  // namespace drift
