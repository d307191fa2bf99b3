#pragma once

#include <map>
#include <string>
#include <vector>

namespace drift {

struct RunnerFacts;

/// A variable of a runner whose wish the libraries didn't follow, or of which that can't be known.
struct DoubtfulSetting {
  std::string name;
  std::string value;
  /// "not_honoured": other kernels than those asked for, or a name that nothing is known to read;
  /// "unknown": the library doesn't say.
  std::string state;
  std::string answer;  ///< what the library said instead, or why nobody knows: "ATen names avx2"
};

/// Holds the variables of a runner that choose kernels against what its libraries say of
/// themselves: ATen's capability, MKL's processor type and branch, OpenBLAS's core. oneDNN, as
/// libtorch has it, can't be asked. Also names that no library is known to read, where they belong
/// to a library's family or are a slip away from a known name.
std::vector<DoubtfulSetting> doubtful_settings(const std::map<std::string, std::string>& variables,
                                               const RunnerFacts& facts);

}  // namespace drift
