#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace drift {

/// One wheel, fixed to its bytes.
struct PinnedWheel {
  std::string package;  ///< as pip names it: "torch", "nvidia-cuda-cupti-cu12"
  std::string version;
  std::string file;  ///< the wheel's file name; its last three parts are its tags
  std::uint64_t size = 0;
  std::string sha256;
};

/// One release of torch: what venvs/torch-VERSION.json says.
struct Pin {
  std::string version;   ///< "1.10.1"
  std::string name;      ///< "january-2022", or empty
  std::string released;  ///< "2021-12-15"
  std::string git_commit;
  std::string python_tag;    ///< "cp39"
  std::string platform_tag;  ///< "manylinux1_x86_64"
  PinnedWheel wheel;
  std::vector<PinnedWheel> extra_wheels;  ///< what libtorch_cpu needs besides: CUDA runtime, CUPTI
  std::uint64_t libraries_bytes = 0;      ///< unpacked size of the libraries

  /// The wheel and the extra wheels.
  std::vector<PinnedWheel> wheels() const;
};

/// Reads a pin. Errors (usage): not JSON, a missing, unknown or ill-formed key; each names `file`
/// and the key.
Pin parse_pin(std::string_view text, const std::string& file);

/// All pins in `folder`/torch-*.json, oldest release first. Errors (usage): as parse_pin(), a pin
/// whose file name is of another release, a name or release given twice.
std::vector<Pin> load_pins(const std::filesystem::path& folder);

/// The shipped pins: those in venvs/ of data_folder().
std::vector<Pin> load_pins();

/// The pin of that release or name, or null.
const Pin* find_pin(const std::vector<Pin>& pins, std::string_view side);

/// Order of releases: by number, part by part, so that 1.9.0 comes before 1.10.0.
bool release_before(std::string_view a, std::string_view b);

/// What to tell someone who asked for a release that has no pin: the range, the nearest ones, and
/// how to write a pin.
std::string unknown_release_hint(const std::vector<Pin>& pins, std::string_view side);

}  // namespace drift
