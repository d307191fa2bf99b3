#include "driftaudit/hash.hpp"

#include <algorithm>
#include <array>
#include <xxhash.h>

#include <fmt/core.h>
#include <openssl/evp.h>

#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"

namespace drift {
namespace {

std::string hex_digits(std::span<const unsigned char> bytes) {
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    fmt::format_to(std::back_inserter(hex), "{:02x}", byte);
  }
  return hex;
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
}

Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

void Sha256::update(std::string_view bytes) { update(std::as_bytes(std::span(bytes))); }

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  EVP_DigestFinal_ex(state_->context, digest.data(), nullptr);
  return hex_digits(digest);
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 sha;
  sha.update(bytes);
  return sha.hex();
}

std::string sha256_file(const std::filesystem::path& path,
                        const std::function<void(std::uint64_t)>& on_bytes) {
  const MappedFile file(path);
  Sha256 sha;
  constexpr std::size_t kChunk = std::size_t{8} << 20;
  for (std::size_t at = 0; at < file.bytes().size(); at += kChunk) {
    throw_if_interrupted();
    const std::size_t size = std::min(kChunk, file.bytes().size() - at);
    sha.update(file.bytes().subspan(at, size));
    if (on_bytes) {
      on_bytes(size);
    }
  }
  return sha.hex();
}

std::string xxh3_128_hex(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return hex_digits(canonical.digest);
}

std::uint64_t xxh3_64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace drift
