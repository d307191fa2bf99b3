#pragma once

// The canonical weights file: what the driver makes of any checkpoint and every runner maps
// read-only, so that all builds compute on the same bytes at the same alignment. Little-endian:
//
//   offset 0    char magic[8] "DRIFTWTS"
//   offset 8    u32 version, u32 n_embd, n_head, n_layer, n_positions, vocab_size, n_inner
//   offset 36   u32 flags (kTied, kScaleAttention, kScaleByLayer)
//   offset 40   f64 layer_norm_epsilon
//   offset 48   u64 bytes of the whole file
//   offset 56   8 bytes of 0
//   offset 64   the tensors, float32, row-major, in the order of tensor_list(), each at the next
//               multiple of 64; the gaps hold 0
//
// Needs the standard library alone; valid C++17 and C++20.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace drift::weights {

inline constexpr char kMagic[8] = {'D', 'R', 'I', 'F', 'T', 'W', 'T', 'S'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kAlignment = 64;

inline constexpr std::uint32_t kTied = 1;            ///< the output head is wte: no lm_head tensor
inline constexpr std::uint32_t kScaleAttention = 2;  ///< attention scores / sqrt(head width)
inline constexpr std::uint32_t kScaleByLayer = 4;    ///< … and / (layer + 1)

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t n_embd, n_head, n_layer, n_positions, vocab_size, n_inner;
  std::uint32_t flags;
  double layer_norm_epsilon;
  std::uint64_t file_bytes;
  std::uint64_t zero;
};
static_assert(sizeof(Header) == 64);

struct Tensor {
  std::string name;  ///< as in GPT-2's own checkpoint, without "transformer."
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;  ///< in the file, a multiple of kAlignment

  std::uint64_t elements() const {
    std::uint64_t n = 1;
    for (const std::int64_t size : shape) {
      n *= static_cast<std::uint64_t>(size);
    }
    return n;
  }
};

/// All tensors of a GPT-2 with these sizes, in file order, with their offsets.
inline std::vector<Tensor> tensor_list(const Header& h) {
  const std::int64_t embd = h.n_embd;
  const std::int64_t inner = h.n_inner;
  std::vector<Tensor> list;
  list.push_back({"wte.weight", {h.vocab_size, embd}});
  list.push_back({"wpe.weight", {h.n_positions, embd}});
  for (std::uint32_t i = 0; i < h.n_layer; ++i) {
    const std::string block = "h." + std::to_string(i) + ".";
    list.push_back({block + "ln_1.weight", {embd}});
    list.push_back({block + "ln_1.bias", {embd}});
    list.push_back({block + "attn.c_attn.weight", {embd, 3 * embd}});
    list.push_back({block + "attn.c_attn.bias", {3 * embd}});
    list.push_back({block + "attn.c_proj.weight", {embd, embd}});
    list.push_back({block + "attn.c_proj.bias", {embd}});
    list.push_back({block + "ln_2.weight", {embd}});
    list.push_back({block + "ln_2.bias", {embd}});
    list.push_back({block + "mlp.c_fc.weight", {embd, inner}});
    list.push_back({block + "mlp.c_fc.bias", {inner}});
    list.push_back({block + "mlp.c_proj.weight", {inner, embd}});
    list.push_back({block + "mlp.c_proj.bias", {embd}});
  }
  list.push_back({"ln_f.weight", {embd}});
  list.push_back({"ln_f.bias", {embd}});
  if ((h.flags & kTied) == 0) {
    list.push_back({"lm_head.weight", {h.vocab_size, embd}});
  }
  std::uint64_t offset = sizeof(Header);
  for (Tensor& tensor : list) {
    offset = (offset + kAlignment - 1) / kAlignment * kAlignment;
    tensor.offset = offset;
    offset += tensor.elements() * sizeof(float);
  }
  return list;
}

}  // namespace drift::weights
