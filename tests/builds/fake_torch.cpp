#include "builds/fake_torch.hpp"

#include <algorithm>
#include <cstdlib>
#include <sys/stat.h>
#include <zip.h>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/process.hpp"

#include "builds/elf.hpp"

namespace drift::test {
namespace {

std::string platform() { return "manylinux2014_" + host_machine(); }

Files with_metadata(Files files, const std::string& package, const std::string& version) {
  std::string name = package;
  std::replace(name.begin(), name.end(), '-', '_');
  const std::string info = fmt::format("{}-{}.dist-info/", name, version);
  files[info + "METADATA"] +=
      fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", package, version);
  files[info + "WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n";
  files[info + "RECORD"] = "";
  return files;
}

PinnedWheel pinned(const std::string& package, const std::string& version, const fs::path& file) {
  return {package, version, file.filename().string(), fs::file_size(file), sha256_file(file)};
}

nlohmann::json wheel_json(const PinnedWheel& wheel) {
  return {{"file", wheel.file}, {"size", wheel.size}, {"sha256", wheel.sha256}};
}

constexpr const char* kRunnerProject = R"(cmake_minimum_required(VERSION 3.22)
project(fake_runner LANGUAGES CXX)
add_executable(runner main.cpp)
target_include_directories(runner SYSTEM PRIVATE ${DRIFT_TORCH_INCLUDES})
target_compile_definitions(runner PRIVATE _GLIBCXX_USE_CXX11_ABI=${DRIFT_CXX11_ABI})
target_link_libraries(runner PRIVATE ${DRIFT_TORCH_LIBRARIES})
target_link_options(runner PRIVATE -Wl,--allow-shlib-undefined -Wl,--no-as-needed
  -Wl,--disable-new-dtags)
set_target_properties(runner PROPERTIES CXX_STANDARD ${DRIFT_CXX_STANDARD}
  BUILD_RPATH "${DRIFT_TORCH_RUNTIME_FOLDERS}")
)";

constexpr const char* kRunnerMain = R"(#include <ATen/ATen.h>
#include <cstdio>
extern "C" int torch_answer();
int main() { std::printf("%d %d\n", FAKE_ATEN, torch_answer() == 0 ? 0 : 1); }
)";

}  // namespace

Error error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {Status::kDone, ""};
}

void build_library(const fs::path& path, const std::vector<std::string>& functions,
                   const std::vector<fs::path>& linked, const std::string& run_path) {
  make_folders(path.parent_path());
  const fs::path source = path.string() + ".c";
  std::string text;
  for (const std::string& function : functions) {
    text += fmt::format("int {}(void) {{ return 0; }}\n", function);
  }
  write_file(source, text);
  std::vector<std::string> arguments = {"c++",
                                        "-x",
                                        "c",
                                        source.string(),
                                        "-x",
                                        "none",
                                        "-shared",
                                        "-fPIC",
                                        "-nostdlib",
                                        "-Wl,--no-as-needed",
                                        "-Wl,--build-id",
                                        "-Wl,-soname," + path.filename().string(),
                                        "-o",
                                        path.string()};
  if (!run_path.empty()) {
    arguments.push_back("-Wl,-rpath," + run_path);
  }
  for (const fs::path& library : linked) {
    arguments.push_back(library.string());
  }
  const ProcessResult result = run_process({arguments, std::nullopt, {}});
  if (!result.end.ok()) {
    throw trouble(result.err);
  }
  fs::remove(source);
}

void write_zip(const fs::path& path, const Files& files,
               const std::map<std::string, std::uint32_t>& unix_modes) {
  int code = 0;
  zip_t* zip = ::zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  for (const auto& [name, bytes] : files) {
    zip_source_t* source = ::zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = ::zip_file_add(zip, name.c_str(), source, ZIP_FL_OVERWRITE);
    const auto at = static_cast<zip_uint64_t>(index);
    ::zip_set_file_compression(zip, at, ZIP_CM_STORE, 0);
    if (const auto mode = unix_modes.find(name); mode != unix_modes.end()) {
      ::zip_file_set_external_attributes(zip, at, 0, ZIP_OPSYS_UNIX, mode->second << 16U);
    }
  }
  if (::zip_close(zip) != 0) {
    throw trouble(path.string() + ": zip can't be written");
  }
}

void write_files(const fs::path& folder, const Files& files) {
  for (const auto& [name, bytes] : files) {
    make_folders((folder / name).parent_path());
    write_file(folder / name, bytes);
  }
}

Files FakeTorch::files() const {
  const TemporaryFolder folder(fs::temp_directory_path(), "fake-torch");
  const fs::path lib = folder.path();
  build_library(lib / "libgomp-a34b3233.so.1", {"GOMP_parallel"});
  build_library(lib / "libcudart.so.11", {"cudaGetDevice"});
  build_library(lib / "libc10.so",
                {new_string_abi ? "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_"
                                  "stringIcSt11char_traitsIcESaIcEEE"
                                : "_ZN3c105ErrorC1ENS_14SourceLocationESs"});
  build_library(lib / "libtorch_cpu.so", {"torch_answer"},
                {lib / "libgomp-a34b3233.so.1", lib / "libcudart.so.11", lib / "libc10.so"},
                "$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN");
  Files files;
  for (const char* name : {"libgomp-a34b3233.so.1", "libc10.so", "libtorch_cpu.so"}) {
    files[std::string("torch/lib/") + name] = read_file(lib / name);
  }
  files["torch/lib/libtorch_cuda.so"] = "what no runner needs";
  files["torch/include/ATen/ATen.h"] =
      "#pragma once\n#if !defined(_MSC_VER) && __cplusplus < 201402L\n#error C++14\n#endif\n"
      "#define FAKE_ATEN 7\n";
  files["torch/include/torch/csrc/api/include/torch/all.h"] = "#pragma once\n";
  files["torch/nn/functional.py"] = "# what no runner needs";
  files["torch/version.py"] = fmt::format(
      "__version__ = '{}+cu102'\ndebug = False\ngit_version = '{}'\n", version, kCommit);
  return with_metadata(files, "torch", version);
}

Files FakeTorch::extra_files() const {
  const TemporaryFolder folder(fs::temp_directory_path(), "fake-torch");
  build_library(folder.path() / "libcudart.so.11", {"cudaGetDevice"});
  Files files;
  files["nvidia/cuda_runtime/lib/libcudart.so.11"] = read_file(folder.path() / "libcudart.so.11");
  return with_metadata(files, "nvidia-cuda-runtime-cu11", "11.7.99");
}

FakeWorld::FakeWorld() : folder_(fs::temp_directory_path(), "driftaudit-test") {
  for (const fs::path& folder : {cache(), wheels(), pins(), runner(), root() / "bin"}) {
    make_folders(folder);
  }
  write_file(runner() / "CMakeLists.txt", kRunnerProject);
  write_file(runner() / "main.cpp", kRunnerMain);
  environment_.set("DRIFTAUDIT_CACHE", cache().string());
  environment_.set("DRIFTAUDIT_DATA", (root() / "data").string());
  environment_.set("PIP_NO_INDEX", "1");
  environment_.set("PIP_FIND_LINKS", wheels().string());
  environment_.set("PIP_CONFIG_FILE", "/dev/null");
}

Pin FakeWorld::publish(const FakeTorch& torch, const std::string& name) {
  Pin pin;
  pin.version = torch.version;
  pin.name = name;
  pin.released = "2021-12-15";
  pin.git_commit = kCommit;
  pin.python_tag = "cp39";
  pin.platform_tag = platform();
  pin.libraries_bytes = 100'000;
  const fs::path wheel =
      wheels() / fmt::format("torch-{}-cp39-cp39-{}.whl", torch.version, platform());
  write_zip(wheel, torch.files());
  pin.wheel = pinned("torch", torch.version, wheel);
  const fs::path extra =
      wheels() / fmt::format("nvidia_cuda_runtime_cu11-11.7.99-py3-none-{}.whl", platform());
  if (!fs::exists(extra)) {
    write_zip(extra, torch.extra_files());
  }
  pin.extra_wheels = {pinned("nvidia-cuda-runtime-cu11", "11.7.99", extra)};
  write_pin(pin);
  return pin;
}

void FakeWorld::write_pin(const Pin& pin) {
  nlohmann::json extras = nlohmann::json::array();
  for (const PinnedWheel& extra : pin.extra_wheels) {
    extras.push_back(wheel_json(extra));
    extras.back()["package"] = extra.package;
    extras.back()["version"] = extra.version;
  }
  nlohmann::json document = {{"torch", pin.version},
                             {"released", pin.released},
                             {"git_commit", pin.git_commit},
                             {"python_tag", pin.python_tag},
                             {"platform_tag", pin.platform_tag},
                             {"wheel", wheel_json(pin.wheel)},
                             {"extra_wheels", extras},
                             {"libraries_bytes", pin.libraries_bytes}};
  if (!pin.name.empty()) {
    document["name"] = pin.name;
  }
  write_file(pins() / ("torch-" + pin.version + ".json"), document.dump(2));
}

void FakeWorld::shadow_program(const std::string& name, const std::string& shell_script) {
  const fs::path program = root() / "bin" / name;
  write_file(program, "#!/bin/sh\n" + shell_script + "\n");
  ::chmod(program.c_str(), 0755);
  environment_.set("PATH", (root() / "bin").string() + ":" + environment_value("PATH"));
}

std::vector<std::string> FakeWorld::cached_files() const {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(cache())) {
    const std::string path = fs::relative(entry.path(), cache()).string();
    if (entry.is_regular_file() && !path.starts_with("locks/") && path != "scratch/lock" &&
        path != kCacheMark) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool has_half_build(const fs::path& cache) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cache / "builds", error)) {
    if (!fs::exists(entry.path() / "build.json")) {
      return true;
    }
  }
  for (const auto& entry : fs::directory_iterator(cache / "scratch", error)) {
    if (entry.is_directory()) {
      return true;
    }
  }
  return false;
}

}  // namespace drift::test
