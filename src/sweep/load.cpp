#include "sweep/load.hpp"

#include <cstddef>
#include <stop_token>

namespace drift {
namespace {

/// One pass over 3 arrays of 4 MB each takes some milliseconds, after which it looks up.
void work(const std::stop_token& stop) {
  constexpr std::size_t kElements = std::size_t{1} << 19U;
  std::vector<double> a(kElements, 1);
  const std::vector<double> b(kElements, 0.5);
  const std::vector<double> c(kElements, 0.25);
  while (!stop.stop_requested()) {
    for (std::size_t i = 0; i < kElements; ++i) {
      a[i] = a[i] * b[i] + c[i];
    }
    // A store that the compiler can't see through keeps the pass.
    *static_cast<volatile double*>(a.data()) = a[kElements / 2];
  }
}

}  // namespace

Load::Load(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) {
    threads_.emplace_back(work);
  }
}

}  // namespace drift
