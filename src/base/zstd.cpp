#include "driftaudit/zstd.hpp"

#include <algorithm>
#include <utility>
#include <vector>
#include <zstd.h>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

constexpr int kLevel = 3;  // zstd's own default: faster than any disk that it is written to

void check(std::size_t result, const char* what) {
  if (ZSTD_isError(result) != 0) {
    throw trouble(fmt::format("{}: {}", what, ZSTD_getErrorName(result)));
  }
}

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
using Compressor = std::unique_ptr<ZSTD_CCtx, FreeCompressor>;
using Decompressor = std::unique_ptr<ZSTD_DCtx, FreeDecompressor>;

Compressor new_compressor() {
  Compressor context(ZSTD_createCCtx());
  check(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel), "zstd");
  check(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1), "zstd");
  return context;
}

}  // namespace

struct ZstdWriter::State {
  explicit State(Sink to) : sink(std::move(to)), context(new_compressor()) {}

  void push(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context.get(), &out, &in, directive);
      check(left, "zstd");
      sink({buffer.data(), out.pos});
      if (directive == ZSTD_e_end ? left == 0 : in.pos == in.size) {
        return;
      }
    }
  }

  Sink sink;
  Compressor context;
  std::vector<char> buffer = std::vector<char>(ZSTD_CStreamOutSize());
};

ZstdWriter::ZstdWriter(Sink sink) : state_(std::make_unique<State>(std::move(sink))) {}
ZstdWriter::~ZstdWriter() = default;

void ZstdWriter::write(std::string_view bytes) { state_->push(bytes, ZSTD_e_continue); }

void ZstdWriter::finish() { state_->push({}, ZSTD_e_end); }

std::string zstd_compressed(std::span<const std::byte> bytes) {
  const Compressor context = new_compressor();
  std::string compressed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress2(context.get(), compressed.data(), compressed.size(),
                                          bytes.data(), bytes.size());
  check(size, "zstd");
  compressed.resize(size);
  return compressed;
}

std::string zstd_decompressed(std::span<const std::byte> bytes, std::uint64_t max_bytes,
                              const std::string& file) {
  const Decompressor context(ZSTD_createDCtx());
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::string content;
  std::vector<char> buffer(ZSTD_DStreamOutSize());
  std::size_t left = 1;  // of the frame that is being read; 0 between frames
  while (in.pos < in.size || left != 0) {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    const std::size_t before = in.pos;
    left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0) {
      throw usage_error(fmt::format("{}: at byte {}: {}", file, before,
                                    in.pos == 0 ? "not Zstandard" : ZSTD_getErrorName(left)),
                        "the file looks damaged; write it again");
    }
    if (content.size() + out.pos > max_bytes) {
      throw usage_error(fmt::format("{}: holds more than the {} bytes that such a file may have",
                                    file, max_bytes));
    }
    content.append(buffer.data(), out.pos);
    if (left != 0 && in.pos == in.size && out.pos < out.size) {
      throw usage_error(fmt::format("{}: ends too early, after {} bytes", file, bytes.size()),
                        "the file looks truncated; write it again");
    }
  }
  return content;
}

}  // namespace drift
