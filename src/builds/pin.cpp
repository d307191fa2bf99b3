#include "driftaudit/pin.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/paths.hpp"

namespace drift {
namespace {

using nlohmann::json;

/// Reads the keys of one JSON object and, at the end, refuses those that nobody asked for.
class Keys {
 public:
  Keys(const json& object, std::string file, std::string place)
      : object_(object), file_(std::move(file)), place_(std::move(place)) {
    if (!object.is_object()) {
      throw usage_error(
          fmt::format("{}: {} is not an object", file_, place_.empty() ? "the pin" : place_));
    }
  }

  std::string text(const std::string& key, const std::string& pattern) {
    const json& value = at(key);
    if (!value.is_string()) {
      fail(key, "is not a string");
    }
    auto result = value.get<std::string>();
    if (!std::regex_match(result, std::regex(pattern))) {
      fail(key, fmt::format("is \"{}\", which doesn't match {}", result, pattern));
    }
    return result;
  }

  std::uint64_t size(const std::string& key) {
    const json& value = at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0) {
      fail(key, "is not a positive number of bytes");
    }
    return value.get<std::uint64_t>();
  }

  const json& at(const std::string& key) {
    taken_.insert(key);
    const auto found = object_.find(key);
    if (found == object_.end()) {
      fail(key, "is missing");
    }
    return *found;
  }

  bool has(const std::string& key) const { return object_.contains(key); }

  void refuse_others() const {
    for (const auto& [key, value] : object_.items()) {
      if (!taken_.contains(key)) {
        fail(key, "is not a key of a pin");
      }
    }
  }

  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw usage_error(
        fmt::format("{}: {}{} {}", file_, place_.empty() ? "" : place_ + ".", key, what),
        "write the pin anew with venvs/make_pin.py");
  }

 private:
  const json& object_;
  std::string file_;
  std::string place_;
  std::set<std::string> taken_;
};

constexpr const char* kVersionPattern = "[0-9]+(\\.[0-9]+)+(\\.post[0-9]+)?";
constexpr const char* kShaPattern = "[0-9a-f]{64}";
constexpr const char* kWheelPattern = "[A-Za-z0-9_.+]+-[A-Za-z0-9_.+]+(-[A-Za-z0-9_.]+){3}\\.whl";

PinnedWheel wheel_from(Keys& keys) {
  PinnedWheel wheel;
  wheel.file = keys.text("file", kWheelPattern);
  wheel.size = keys.size("size");
  wheel.sha256 = keys.text("sha256", kShaPattern);
  return wheel;
}

/// "nvidia-cuda-cupti" and its version must be those in the wheel's file name.
void check_wheel_name(const Keys& keys, const PinnedWheel& wheel) {
  std::string start = wheel.package;
  std::replace(start.begin(), start.end(), '-', '_');
  if (!wheel.file.starts_with(start + "-" + wheel.version + "-")) {
    keys.fail("file", fmt::format("is \"{}\", not a wheel of {} {}", wheel.file, wheel.package,
                                  wheel.version));
  }
}

}  // namespace

std::vector<PinnedWheel> Pin::wheels() const {
  std::vector<PinnedWheel> all = {wheel};
  all.insert(all.end(), extra_wheels.begin(), extra_wheels.end());
  return all;
}

Pin parse_pin(std::string_view text, const std::string& file) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& error) {
    throw usage_error(fmt::format("{}: not JSON at byte {}", file, error.byte),
                      "write the pin anew with venvs/make_pin.py");
  } catch (const json::exception&) {
    throw usage_error(fmt::format("{}: holds a number that is too large", file),
                      "write the pin anew with venvs/make_pin.py");
  }
  Keys keys(document, file, "");
  Pin pin;
  pin.version = keys.text("torch", kVersionPattern);
  pin.name = keys.has("name") ? keys.text("name", "[a-z][a-z0-9-]*") : "";
  pin.released = keys.text("released", "[0-9]{4}-[0-9]{2}-[0-9]{2}");
  pin.git_commit = keys.text("git_commit", "[0-9a-f]{40}");
  pin.python_tag = keys.text("python_tag", "cp3[0-9]+");
  pin.platform_tag = keys.text("platform_tag", "[a-z0-9_.]+");
  pin.libraries_bytes = keys.size("libraries_bytes");

  Keys wheel_keys(keys.at("wheel"), file, "wheel");
  pin.wheel = wheel_from(wheel_keys);
  pin.wheel.package = "torch";
  pin.wheel.version = pin.version;
  check_wheel_name(wheel_keys, pin.wheel);
  if (!pin.wheel.file.ends_with("-" + pin.platform_tag + ".whl") ||
      pin.wheel.file.find("-" + pin.python_tag + "-") == std::string::npos) {
    wheel_keys.fail("file", fmt::format("is \"{}\", whose tags are not {} and {}", pin.wheel.file,
                                        pin.python_tag, pin.platform_tag));
  }
  wheel_keys.refuse_others();

  const json& extras = keys.at("extra_wheels");
  if (!extras.is_array()) {
    keys.fail("extra_wheels", "is not a list");
  }
  for (std::size_t i = 0; i < extras.size(); ++i) {
    Keys extra_keys(extras[i], file, fmt::format("extra_wheels[{}]", i));
    PinnedWheel extra = wheel_from(extra_keys);
    extra.package = extra_keys.text("package", "[a-z0-9][a-z0-9-]*");
    extra.version = extra_keys.text("version", kVersionPattern);
    check_wheel_name(extra_keys, extra);
    extra_keys.refuse_others();
    pin.extra_wheels.push_back(std::move(extra));
  }
  keys.refuse_others();
  return pin;
}

std::vector<Pin> load_pins(const fs::path& folder) {
  std::vector<Pin> pins;
  std::set<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".json" || !path.filename().string().starts_with("torch-")) {
      continue;
    }
    Pin pin = parse_pin(read_file(path, 1 << 20), path.string());
    if (path.filename() != "torch-" + pin.version + ".json") {
      throw usage_error(fmt::format("{}: its release is {}", path.string(), pin.version),
                        fmt::format("name it torch-{}.json", pin.version));
    }
    if (!pin.name.empty() && !names.insert(pin.name).second) {
      throw usage_error(
          fmt::format("{}: another pin has the name {} too", path.string(), pin.name));
    }
    pins.push_back(std::move(pin));
  }
  if (error) {
    throw usage_error(fmt::format("{}: {}", folder.string(), error.message()),
                      "set DRIFTAUDIT_DATA to the folder that holds venvs/");
  }
  std::sort(pins.begin(), pins.end(),
            [](const Pin& a, const Pin& b) { return release_before(a.version, b.version); });
  return pins;
}

std::vector<Pin> load_pins() { return load_pins(data_folder() / "venvs"); }

const Pin* find_pin(const std::vector<Pin>& pins, std::string_view side) {
  const auto found = std::find_if(pins.begin(), pins.end(), [&](const Pin& pin) {
    return pin.version == side || (!pin.name.empty() && pin.name == side);
  });
  return found == pins.end() ? nullptr : &*found;
}

namespace {

std::vector<unsigned long> numbers_of(std::string_view release) {
  std::vector<unsigned long> numbers;
  std::string digits;
  for (const char c : std::string(release) + ".") {
    if (c >= '0' && c <= '9' && digits.size() < 9) {
      digits += c;
    } else if (!digits.empty()) {
      numbers.push_back(std::stoul(digits));
      digits.clear();
    }
  }
  return numbers;
}

}  // namespace

bool release_before(std::string_view a, std::string_view b) {
  const auto x = numbers_of(a);
  const auto y = numbers_of(b);
  return x != y ? x < y : a < b;
}

std::string unknown_release_hint(const std::vector<Pin>& pins, std::string_view side) {
  if (pins.empty()) {
    return "there are no pins; write one with venvs/make_pin.py";
  }
  const auto next = std::find_if(pins.begin(), pins.end(),
                                 [&](const Pin& pin) { return release_before(side, pin.version); });
  std::string nearest;
  if (!numbers_of(side).empty()) {
    const std::string before = next == pins.begin() ? "" : std::prev(next)->version;
    const std::string after = next == pins.end() ? "" : next->version;
    nearest = fmt::format(" (nearest: {}{}{})", before, before.empty() || after.empty() ? "" : ", ",
                          after);
  }
  return fmt::format(
      "pins go from {} to {}{}; see driftaudit builds list --all, or write a pin with "
      "venvs/make_pin.py VERSION",
      pins.front().version, pins.back().version, nearest);
}

}  // namespace drift
