#include <elf.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/build.hpp"
#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/hash.hpp"

#include "builds/elf.hpp"
#include "builds/facts.hpp"
#include "builds/fake_torch.hpp"
#include "builds/records.hpp"

namespace drift {
namespace {

using test::error_of;
using test::FakeTorch;
using test::FakeWorld;
using test::Files;
using test::write_files;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InspectTest : public ::testing::Test {
 protected:
  /// A site-packages folder with the fake torch and its CUDA runtime.
  void install(const fs::path& site_packages, const FakeTorch& torch = {}) {
    write_files(site_packages, torch.files());
    write_files(site_packages, torch.extra_files());
  }

  FakeWorld world_;
  fs::path folder_ = world_.root() / "env";
};

TEST_F(InspectTest, ReadsElfFiles) {
  install(folder_);
  const ElfFile file = read_elf(folder_ / "torch/lib/libtorch_cpu.so");
  EXPECT_EQ(file.machine, host_machine());
  EXPECT_THAT(file.needed, ElementsAre("libgomp-a34b3233.so.1", "libcudart.so.11", "libc10.so"));
  EXPECT_THAT(file.run_paths, ElementsAre("$ORIGIN/../../nvidia/cuda_runtime/lib", "$ORIGIN"));
  EXPECT_EQ(file.build_id.size(), 40U);
  EXPECT_THAT(dynamic_symbols(folder_ / "torch/lib/libtorch_cpu.so", "torch_"),
              ElementsAre("torch_answer"));
}

TEST_F(InspectTest, RefusesWhatIsNoElfFileOrTruncated) {
  write_files(folder_, {{"text.so", "hello"}});
  EXPECT_THROW(read_elf(folder_ / "text.so"), Error);
  EXPECT_THROW(read_elf(folder_ / "absent.so"), Error);
  install(folder_);
  fs::resize_file(folder_ / "torch/lib/libc10.so", 2000);
  EXPECT_THROW(read_elf(folder_ / "torch/lib/libc10.so"), Error);
}

TEST_F(InspectTest, ReadsEveryFactOfAVenvOffItsFiles) {
  const fs::path site = folder_ / "lib/python3.9/site-packages";
  install(site);
  const Build build = inspect_build(folder_);
  const fs::path real = fs::canonical(site);
  EXPECT_EQ(build.label, folder_.string());
  EXPECT_EQ(build.origin, BuildOrigin::kFolder);
  EXPECT_EQ(build.library_folder, real / "torch/lib");
  EXPECT_THAT(build.include_folders,
              ElementsAre(real / "torch/include", real / "torch/include/torch/csrc/api/include"));
  EXPECT_THAT(build.runtime_folders,
              ElementsAre(real / "torch/lib", real / "nvidia/cuda_runtime/lib"));
  EXPECT_EQ(build.version, "1.10.1+cu102");
  EXPECT_EQ(build.git_commit, test::kCommit);
  EXPECT_EQ(build.string_abi, StringAbi::kOld);
  EXPECT_EQ(build.cxx_standard, 17);
  EXPECT_EQ(build.libtorch_sha256, sha256_file(site / "torch/lib/libtorch_cpu.so"));
  EXPECT_EQ(build.libraries_digest.size(), 64U);
}

TEST_F(InspectTest, TakesTheSameFactsFromEachKindOfFolder) {
  install(folder_ / "lib/python3.9/site-packages");
  const Build venv = inspect_build(folder_);
  const fs::path site = folder_ / "lib/python3.9/site-packages";
  for (const fs::path& folder : {site, site / "torch"}) {
    const Build build = inspect_build(folder);
    EXPECT_EQ(build.library_folder, venv.library_folder) << folder;
    EXPECT_EQ(build.libraries_digest, venv.libraries_digest) << folder;
    EXPECT_EQ(build.runtime_folders, venv.runtime_folders) << folder;
  }
}

TEST_F(InspectTest, ReadsTheTransformersThatLieBesideIt) {
  const fs::path site = folder_ / "lib/python3.9/site-packages";
  install(site, {"2.8.0"});
  const auto transformers = [&] { return attention_facts(folder_.string()).transformers; };
  EXPECT_EQ(transformers(), "");
  EXPECT_EQ(attention_facts(folder_.string()).torch, "2.8.0+cu102");
  make_folders(site / "transformers_stream_generator-0.0.5.dist-info");
  make_folders(site / "transformers");
  EXPECT_EQ(transformers(), "");
  make_folders(site / "transformers-4.9.0-py3.9.egg-info");
  EXPECT_EQ(transformers(), "4.9.0");
  make_folders(site / "transformers-4.57.1.dist-info");
  EXPECT_EQ(transformers(), "4.57.1") << "the newest";
  for (const fs::path& folder : {site, site / "torch"}) {
    EXPECT_EQ(attention_facts(folder.string()).transformers, "4.57.1") << folder;
  }
}

TEST_F(InspectTest, ReadsAnUnpackedLibtorchZip) {
  const TemporaryFolder parts(fs::temp_directory_path(), "parts");
  install(parts.path(), {"2.3.1", true});
  const fs::path zip = folder_ / "libtorch";
  make_folders(folder_);
  fs::rename(parts.path() / "torch", zip);
  fs::rename(parts.path() / "nvidia/cuda_runtime/lib/libcudart.so.11", zip / "lib/libcudart.so.11");
  fs::remove(zip / "version.py");
  write_files(
      zip, {{"build-version", "2.3.1+cpu\n"}, {"build-hash", std::string(test::kCommit) + "\n"}});
  for (const fs::path& folder : {folder_, zip}) {
    const Build build = inspect_build(folder);
    EXPECT_EQ(build.version, "2.3.1+cpu");
    EXPECT_EQ(build.git_commit, test::kCommit);
    EXPECT_EQ(build.string_abi, StringAbi::kNew);
    EXPECT_EQ(build.library_folder, fs::canonical(zip) / "lib");
  }
}

TEST_F(InspectTest, ReadsASystemPrefix) {
  const TemporaryFolder parts(fs::temp_directory_path(), "parts");
  install(parts.path());
  const fs::path lib = folder_ / "lib" / (host_machine() + "-linux-gnu");
  make_folders(lib.parent_path());
  fs::rename(parts.path() / "torch/lib", lib);
  fs::rename(parts.path() / "nvidia/cuda_runtime/lib/libcudart.so.11", lib / "libcudart.so.11");
  fs::rename(parts.path() / "torch/include", folder_ / "include");
  write_files(folder_ / "include",
              {{"torch/csrc/api/include/torch/version.h",
                "/// Indicates the major version.\n#define TORCH_VERSION_MAJOR 1\n"
                "#define TORCH_VERSION_MINOR 13\n#define TORCH_VERSION_PATCH 0\n"}});
  const Build build = inspect_build(folder_);
  EXPECT_EQ(build.origin, BuildOrigin::kSystem);
  EXPECT_EQ(build.version, "1.13.0");
  EXPECT_EQ(build.git_commit, "");
  EXPECT_EQ(build.library_folder, fs::canonical(lib));
}

TEST_F(InspectTest, SaysWhatIsWrongWithAFolder) {
  EXPECT_EQ(error_of([&] { inspect_build(world_.root() / "absent"); }).status(), Status::kUsage);
  make_folders(folder_ / "lib/python3.9/site-packages");
  EXPECT_THAT(error_of([&] { inspect_build(folder_); }).what(), HasSubstr("no torch in there"));
  EXPECT_EQ(error_of([&] { inspect_build(folder_); }).status(), Status::kUsage);

  install(folder_);
  fs::remove_all(folder_ / "torch/include");
  EXPECT_THAT(error_of([&] { inspect_build(folder_); }).what(),
              HasSubstr("ATen/ATen.h: no such file"));
  EXPECT_EQ(error_of([&] { inspect_build(folder_); }).status(), Status::kTrouble);

  fs::remove(folder_ / "torch/lib/libc10.so");
  write_files(folder_, {{"torch/include/ATen/ATen.h", ""}});
  EXPECT_THAT(error_of([&] { inspect_build(folder_); }).what(),
              HasSubstr("libc10.so: no such file"));
}

TEST_F(InspectTest, NamesAMissingLibraryAndWhoNeedsIt) {
  install(folder_);
  fs::remove(folder_ / "torch/lib/libgomp-a34b3233.so.1");
  EXPECT_THAT(error_of([&] { inspect_build(folder_); }).what(),
              HasSubstr("libtorch_cpu.so needs libgomp-a34b3233.so.1"));
  fs::remove_all(folder_ / "nvidia");
  install(folder_ / "other");
  fs::remove_all(folder_ / "other/nvidia");
  EXPECT_THAT(error_of([&] { inspect_build(folder_ / "other"); }).hint(),
              HasSubstr("nvidia-cuda-runtime"));
}

TEST_F(InspectTest, NamesAnotherArchitecture) {
  install(folder_);
  const fs::path library = folder_ / "torch/lib/libtorch_cpu.so";
  std::string bytes = read_file(library);
  const bool here_arm = host_machine() == "aarch64";
  bytes[18] = static_cast<char>(here_arm ? EM_X86_64 : EM_AARCH64);  // e_machine
  bytes[19] = 0;
  write_file(library, bytes);
  const Error error = error_of([&] { inspect_build(folder_); });
  EXPECT_EQ(error.status(), Status::kTrouble);
  EXPECT_THAT(error.what(),
              HasSubstr(std::string("built for ") + (here_arm ? "x86_64" : "aarch64")));
}

TEST_F(InspectTest, TakesTheStandardFromChecksThatEndInAnError) {
  const auto standard = [&](const std::string& header) {
    write_files(folder_, {{"ATen/ATen.h", header}});
    return read_cxx_standard(folder_);
  };
  EXPECT_EQ(standard("#if !defined(_MSC_VER) && __cplusplus < 201402L\n#error old\n#endif\n"), 17);
  EXPECT_EQ(standard("#if !defined(_MSC_VER) && __cplusplus < 201703L\n#error old\n#endif\n"), 17);
  EXPECT_EQ(standard("#if (defined(_MSVC_LANG) && _MSVC_LANG < 202002L) || \\\n"
                     "    (!defined(_MSVC_LANG) && __cplusplus < 202002L)\n#error \\\n old\n"),
            20);
  EXPECT_EQ(standard("#if __GNUC__ < 13 && __cplusplus < 202002L\n#define CONSTEXPR\n#endif\n"),
            17);
  EXPECT_EQ(standard("#if __cplusplus < 202302L\n#error old\n#endif\n"), 23);
}

TEST_F(InspectTest, ReadsAnnotatedVersionsAndNoCommitThatIsNone) {
  BuildLayout layout;
  layout.version_script = folder_ / "version.py";
  write_files(folder_, {{"version.py",
                         "from typing import Optional\n__all__ = ['__version__']\n"
                         "__version__: str = '2.15.0+cu132'\ngit_version = 'Unknown'\n"}});
  EXPECT_EQ(read_version(layout), "2.15.0+cu132");
  EXPECT_EQ(read_commit(layout), "");
  write_files(folder_, {{"version.py", "nothing"}});
  EXPECT_EQ(read_version(layout), "unknown");
}

TEST_F(InspectTest, HashesAgainOnlyWhenTheFileIsAnotherOne) {
  install(folder_);
  const fs::path library = folder_ / "torch/lib/libtorch_cpu.so";
  const std::string before = inspect_build(folder_).libtorch_sha256;
  // Other bytes behind the same size, time, inode and build-id: the record is trusted.
  const auto time = fs::last_write_time(library);
  std::string bytes = read_file(library);
  bytes.back() = static_cast<char>(bytes.back() + 1);
  {
    std::FILE* file = std::fopen(library.c_str(), "r+b");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    std::fclose(file);
  }
  fs::last_write_time(library, time);
  EXPECT_EQ(inspect_build(folder_).libtorch_sha256, before);
  fs::last_write_time(library, time + std::chrono::seconds(1));
  EXPECT_EQ(inspect_build(folder_).libtorch_sha256, sha256_hex(bytes));
  EXPECT_NE(sha256_hex(bytes), before);
}

}  // namespace
}  // namespace drift
