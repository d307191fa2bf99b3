#include "report/host.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <sstream>
#include <sys/utsname.h>
#include <thread>

#include <fmt/core.h>

namespace drift {
namespace {

constexpr std::array kKernelFlags{
    "sse4_1",   "sse4_2",      "avx",         "fma",      "f16c",     "avx2",
    "avx512f",  "avx512bw",    "avx512dq",    "avx512vl", "avx512cd", "avx512_vnni",
    "avx_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16",
    "amx_fp16", "asimd",       "asimdhp",     "bf16",     "sve",      "sve2"};

/// A file of /proc or /etc, which may be missing; files of /proc have no size.
std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

/// The first non-empty value of a `key<separator>value` line, or empty.
std::string value_of(std::string_view text, std::string_view key, char separator) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t split = line.find(separator);
    if (split == std::string_view::npos || trimmed(line.substr(0, split)) != key) {
      continue;
    }
    const std::string_view value = trimmed(line.substr(split + 1));
    if (!value.empty()) {
      return std::string(value);
    }
  }
  return "";
}

/// Cores that this process may run on: what a container or taskset leaves.
std::uint32_t available_cores() {
  constexpr int kMost = 8192;
  cpu_set_t* set = CPU_ALLOC(kMost);
  const std::size_t size = CPU_ALLOC_SIZE(kMost);
  int count = 0;
  if (set != nullptr && ::sched_getaffinity(0, size, set) == 0) {
    count = CPU_COUNT_S(size, set);
  }
  CPU_FREE(set);
  return count > 0 ? static_cast<std::uint32_t>(count) : std::thread::hardware_concurrency();
}

}  // namespace

void read_cpuinfo(std::string_view cpuinfo, HostRecord& host) {
  // x86 says "model name", some others only "Processor", "cpu" or nothing but a part number.
  for (const char* key : {"model name", "Processor", "cpu model", "cpu", "CPU part"}) {
    host.cpu = value_of(cpuinfo, key, ':');
    if (!host.cpu.empty()) {
      break;
    }
  }
  if (host.cpu.empty()) {
    host.cpu = "unknown";
  }
  std::string flags = value_of(cpuinfo, "flags", ':');
  if (flags.empty()) {
    flags = value_of(cpuinfo, "Features", ':');
  }
  std::istringstream words(flags);
  const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
  host.cpu_flags.clear();
  for (const char* flag : kKernelFlags) {
    if (std::find(all.begin(), all.end(), flag) != all.end()) {
      host.cpu_flags.emplace_back(flag);
    }
  }
}

std::string os_name(std::string_view os_release) {
  std::string name = value_of(os_release, "PRETTY_NAME", '=');
  if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
      name.back() == name.front()) {
    name = name.substr(1, name.size() - 2);
  }
  return name;
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

HostRecord this_host() {
  HostRecord host;
  read_cpuinfo(text_of("/proc/cpuinfo"), host);
  host.cores = available_cores();
  host.os = os_name(text_of("/etc/os-release"));
  if (host.os.empty()) {
    host.os = os_name(text_of("/usr/lib/os-release"));
  }
  struct utsname names {};
  if (::uname(&names) == 0) {
    host.kernel = std::string(names.sysname) + " " + names.release;
  }
  if (host.os.empty()) {
    host.os = names.sysname;
  }
  return host;
}

}  // namespace drift
