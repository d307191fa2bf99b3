#pragma once

// A tensor as it lies in memory, so that the other end can lay out the same: which kernel a library
// takes, and in which order it adds, depends on sizes, strides and alignment. Needs the standard
// library alone; valid C++17 and C++20.

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "wire_codec.hpp"

namespace drift::wire {

enum class DType : std::uint32_t {
  kFloat32 = 0,
  kInt64 = 1,
  kBool = 2,
  kBFloat16 = 3,
  kFloat16 = 4
};

/// Bytes of one element.
inline std::uint64_t element_bytes(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 4;
    case DType::kInt64:
      return 8;
    case DType::kBool:
      return 1;
    case DType::kBFloat16:
    case DType::kFloat16:
      return 2;
  }
  throw std::runtime_error("a tensor of unknown type");
}

/// Where a tensor's elements lie. Sizes, strides and the offset count elements; strides may be 0
/// (expanded) but never negative.
struct TensorLayout {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> sizes, strides;
  std::uint64_t storage_offset = 0;  ///< of the first element, from the storage's data
  std::uint32_t alignment = 0;       ///< address of the storage's data modulo 64

  std::uint64_t elements() const {
    std::uint64_t count = 1;
    for (const std::int64_t size : sizes) {
      count *= static_cast<std::uint64_t>(size);
    }
    return count;
  }
  /// From the first element to behind the last one in memory; 0 without elements.
  std::uint64_t extent() const {
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 0) {
        return 0;
      }
      last += static_cast<std::uint64_t>(sizes[i] - 1) * static_cast<std::uint64_t>(strides[i]);
    }
    return last + 1;
  }
};

inline bool operator==(const TensorLayout& a, const TensorLayout& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides &&
         a.storage_offset == b.storage_offset && a.alignment == b.alignment;
}
inline bool operator!=(const TensorLayout& a, const TensorLayout& b) { return !(a == b); }

/// A tensor with its elements. What lies before its first element isn't sent.
struct TensorData {
  TensorLayout layout;
  std::string bytes;  ///< layout.extent() elements, gaps between strides included
};

/// Throws std::runtime_error for a layout that no tensor has, or one of more than kMaxPayload
/// bytes, with what lies before it or with all elements of an expanded one.
inline void check_layout(const TensorLayout& layout) {
  const auto require = [](bool holds) {
    if (!holds) {
      throw std::runtime_error("a tensor that can't be");
    }
  };
  const std::uint64_t most = kMaxPayload / element_bytes(layout.dtype);
  require(layout.sizes.size() == layout.strides.size() && layout.sizes.size() <= 64);
  // An allocator that gives addresses as little round as Job::alignment allows does so for all
  // types.
  const std::uint64_t least = std::min<std::uint64_t>(element_bytes(layout.dtype), 4);
  require(layout.alignment < 64 && layout.alignment % least == 0);
  require(layout.storage_offset < most);
  std::uint64_t count = 1;
  std::uint64_t end = layout.storage_offset + 1;
  for (std::size_t i = 0; i < layout.sizes.size(); ++i) {
    require(layout.sizes[i] >= 0 && layout.strides[i] >= 0);
    const auto size = static_cast<std::uint64_t>(layout.sizes[i]);
    const auto stride = static_cast<std::uint64_t>(layout.strides[i]);
    const std::uint64_t steps = size > 1 ? size - 1 : 0;
    require(size <= most && count * size <= most);
    require(steps == 0 || stride <= (most - end) / steps);
    count *= size;
    end += steps * stride;
    require(end <= most);
  }
}

inline void check_bytes(const TensorLayout& layout, const std::string& bytes) {
  if (bytes.size() != layout.extent() * element_bytes(layout.dtype)) {
    throw std::runtime_error("a tensor whose bytes aren't those of its layout");
  }
}

inline void put(Writer& w, const TensorLayout& t) {
  w.number(t.dtype);
  w.numbers(t.sizes);
  w.numbers(t.strides);
  w.number(t.storage_offset);
  w.number(t.alignment);
}

inline void get(Reader& r, TensorLayout& t) {
  t.dtype = r.number<DType>();
  t.sizes = r.numbers<std::int64_t>();
  t.strides = r.numbers<std::int64_t>();
  t.storage_offset = r.number<std::uint64_t>();
  t.alignment = r.number<std::uint32_t>();
  check_layout(t);
}

inline void put(Writer& w, const TensorData& t) {
  put(w, t.layout);
  w.text(t.bytes);
}

inline void get(Reader& r, TensorData& t) {
  get(r, t.layout);
  t.bytes = r.text();
  check_bytes(t.layout, t.bytes);
}

}  // namespace drift::wire
