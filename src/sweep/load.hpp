#pragma once

#include <thread>
#include <vector>

namespace drift {

/// Busy threads of this process, for as long as it exists: each computes on arrays larger than a
/// cache, so that cores, caches and memory are contended for.
class Load {
 public:
  explicit Load(unsigned threads);

 private:
  std::vector<std::jthread> threads_;  ///< stopped and joined by their destructors
};

}  // namespace drift
