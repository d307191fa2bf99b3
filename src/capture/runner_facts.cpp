#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <string_view>

#include <fmt/core.h>

#include "driftaudit/runner_process.hpp"

namespace drift {
namespace {

/// What follows the first `mark` in `text`, as far as `belongs` holds; empty without the mark.
template <class Predicate>
std::string_view after(std::string_view text, std::string_view mark, Predicate belongs) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(at + mark.size());
  const auto end = std::find_if_not(text.begin(), text.end(), belongs);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::string cpu_capability(std::string_view config) {
  const std::string_view capability =
      after(config, "CPU capability usage: ", [](char c) { return c != '\n'; });
  if (capability.empty()) {
    return "unknown";
  }
  return capability == "NO AVX" ? "DEFAULT" : std::string(capability);  // up to 1.11
}

/// The version from the library's own words ("Intel(R) Math Kernel Library Version 2020.0.0
/// Product Build …", later "Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build …"),
/// OpenBLAS's likewise; of any other the name from torch's build settings, and the file that the
/// linker found, as "generic (blas/libblas.so.3.12.1)".
std::string blas(std::string_view config) {
  const std::string_view mkl = after(config, "Math Kernel Library Version ", [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
  });
  if (!mkl.empty()) {
    return "MKL " + std::string(mkl);
  }
  const std::string_view open = after(config, "BLAS config: OpenBLAS ", [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
  });
  if (!open.empty()) {
    return "OpenBLAS " + std::string(open);
  }
  const std::string_view name = after(config, "BLAS_INFO=", [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
  if (name == "open") {
    return "OpenBLAS";
  }
  if (name == "mkl") {
    return "MKL";
  }
  const std::filesystem::path file(
      after(config, "BLAS library: ", [](char c) { return c != '\n'; }));
  const std::string known = name.empty() ? "unknown" : std::string(name);
  return file.empty() ? known
                      : fmt::format("{} ({})", known,
                                    (file.parent_path().filename() / file.filename()).string());
}

std::optional<std::uint32_t> blas_threads(const wire::Hello& hello) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::string_view digits = after(hello.parallel_info, "mkl_get_max_threads() : ", is_digit);
  if (digits.empty()) {
    digits = after(hello.config, "BLAS threads: ", is_digit);
  }
  std::uint32_t threads = 0;
  const auto end = digits.data() + digits.size();
  if (digits.empty() || std::from_chars(digits.data(), end, threads).ec != std::errc()) {
    return std::nullopt;
  }
  return threads;
}

std::optional<std::string> blas_dispatch(std::string_view config) {
  const std::string_view dispatch =
      after(config, "BLAS dispatch: ", [](char c) { return c != '\n'; });
  return dispatch.empty() ? std::nullopt : std::optional(std::string(dispatch));
}

}  // namespace

RunnerFacts facts_from(const wire::Hello& hello) {
  // Its own line, by the name before 2020: "Intel(R) MKL-DNN v2.6.0 (Git Hash …)".
  const bool has_onednn = hello.config.find("MKL-DNN v") != std::string::npos;
  return {hello.torch,         cpu_capability(hello.config), blas(hello.config), hello.threads,
          blas_threads(hello), blas_dispatch(hello.config),  has_onednn};
}

}  // namespace drift
