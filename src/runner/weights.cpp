#include "weights.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drift::runner {
namespace {

/// Maps a whole file; its size goes to `size`. The mapping is never undone: tensors point into it.
char* map_file(const std::string& path, std::uint64_t& size) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0) {
    throw std::runtime_error(path + ": " + std::strerror(errno));
  }
  size = static_cast<std::uint64_t>(status.st_size);
  if (size < sizeof(weights::Header)) {
    throw std::runtime_error(path + ": too short for a canonical weights file");
  }
  void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapping == MAP_FAILED) {
    throw std::runtime_error(path + ": can't be mapped: " + std::strerror(errno));
  }
  return static_cast<char*>(mapping);
}

}  // namespace

WeightsFile::WeightsFile(const std::string& path) {
  std::uint64_t size = 0;
  char* const mapping = map_file(path, size);
  mapping_ = mapping;
  std::memcpy(&header_, mapping, sizeof header_);
  if (std::memcmp(header_.magic, weights::kMagic, sizeof header_.magic) != 0 ||
      header_.version != weights::kVersion || header_.file_bytes != size) {
    throw std::runtime_error(path + ": not a canonical weights file of version " +
                             std::to_string(weights::kVersion));
  }
  for (const weights::Tensor& tensor : weights::tensor_list(header_)) {
    if (tensor.offset + tensor.elements() * sizeof(float) > size) {
      throw std::runtime_error(path + ": ends within " + tensor.name);
    }
    tensors_[tensor.name] =
        at::from_blob(mapping + tensor.offset, tensor.shape, at::TensorOptions(at::kFloat));
  }
}

bool WeightsFile::holds(const at::Tensor& tensor) const {
  const auto at = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping_);
  return at >= begin && at - begin < header_.file_bytes;
}

}  // namespace drift::runner
