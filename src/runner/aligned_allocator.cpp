#include "aligned_allocator.hpp"

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

namespace drift::runner {
namespace {

constexpr std::uint32_t kRoundest = 64;

/// An address `alignment` past a multiple of 64, in a block that begins at that multiple.
class AlignedAllocator final : public c10::Allocator {
 public:
  explicit AlignedAllocator(std::uint32_t alignment) : alignment_(alignment) {}

  // Virtual in c10::Allocator: allocate() const in the older releases and without const in the
  // later ones, copy_data() in the later ones alone. So nothing here says `override`.
  c10::DataPtr allocate(std::size_t bytes) const { return allocated(bytes); }
  c10::DataPtr allocate(std::size_t bytes) { return allocated(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }

 private:
  c10::DataPtr allocated(std::size_t bytes) const {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) {
      return {nullptr, nullptr, &free_block, cpu};
    }
    void* block = nullptr;
    if (::posix_memalign(&block, kRoundest, bytes + alignment_) != 0) {
      throw std::runtime_error("can't allocate memory: " + std::to_string(bytes) + " bytes");
    }
    void* const data = static_cast<char*>(block) + alignment_;
    return {data, data, &free_block, cpu};
  }

  static void free_block(void* data) {
    char* const address = static_cast<char*>(data);
    std::free(address - reinterpret_cast<std::uintptr_t>(address) % kRoundest);
  }

  std::uint32_t alignment_;
};

}  // namespace

void align_tensors(std::uint32_t alignment) {
  if (alignment < 4 || alignment > kRoundest || (alignment & (alignment - 1)) != 0) {
    throw std::runtime_error("an alignment of " + std::to_string(alignment) +
                             " bytes isn't a power of two from 4 to 64");
  }
  if (alignment < kRoundest) {
    c10::SetCPUAllocator(new AlignedAllocator(alignment));  // lives as long as its tensors
  }
}

}  // namespace drift::runner
