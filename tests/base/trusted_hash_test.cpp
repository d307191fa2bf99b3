#include "driftaudit/trusted_hash.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"

#include "shared/scoped_environment.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Keeps the steps and how far each came.
class Steps final : public Progress {
 public:
  void start(std::string_view label, std::uint64_t total, Unit) override {
    labels.emplace_back(label);
    last_total = total;
  }
  void update(std::uint64_t done) override { last_done = done; }
  void finish() override { ++finished; }
  void note(std::string_view) override {}

  std::vector<std::string> labels;
  std::uint64_t last_total = 0;
  std::uint64_t last_done = 0;
  int finished = 0;
};

class TrustedHash : public ::testing::Test {
 protected:
  TrustedHash() { write_file(file_, "before"); }

  fs::path hashes() const { return folder_.path() / "cache/hashes"; }
  /// Other bytes behind the same size, time and inode.
  void alter_unseen() {
    const auto time = fs::last_write_time(file_);
    std::FILE* file = std::fopen(file_.c_str(), "r+b");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(std::fwrite("unseen", 1, 6, file), 6U);
    std::fclose(file);
    fs::last_write_time(file_, time);
  }
  void touch() { fs::last_write_time(file_, fs::last_write_time(file_) + std::chrono::seconds(1)); }

  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-test"};
  test::ScopedEnvironment cache_{"DRIFTAUDIT_CACHE", (folder_.path() / "cache").string()};
  fs::path file_ = folder_.path() / "file";
};

TEST_F(TrustedHash, HashesAFileAgainOnlyWhenItIsAnotherOne) {
  EXPECT_EQ(trusted_sha256(file_), sha256_hex("before"));
  alter_unseen();
  EXPECT_EQ(trusted_sha256(file_), sha256_hex("before"));
  touch();
  EXPECT_EQ(trusted_sha256(file_), sha256_hex("unseen"));
}

TEST_F(TrustedHash, TakesAFileOfTheSameSizeAndTimePutInItsPlaceForAnotherOne) {
  trusted_sha256(file_);
  write_file(folder_.path() / "other", "behind");
  fs::last_write_time(folder_.path() / "other", fs::last_write_time(file_));
  fs::rename(folder_.path() / "other", file_);
  EXPECT_EQ(trusted_sha256(file_), sha256_hex("behind"));
}

TEST_F(TrustedHash, TakesAFileOfAnotherMarkForAnotherOne) {
  trusted_sha256(file_, "build-id 1");
  alter_unseen();
  EXPECT_EQ(trusted_sha256(file_, "build-id 1"), sha256_hex("before"));
  EXPECT_EQ(trusted_sha256(file_, "build-id 2"), sha256_hex("unseen"));
  EXPECT_NE(file_identity(file_, "build-id 1"), file_identity(file_, "build-id 2"));
}

TEST_F(TrustedHash, ShowsTheHashingAndNothingWhereItTrustsTheRecord) {
  Steps steps;
  trusted_sha256(file_, "", &steps);
  EXPECT_THAT(steps.labels, ElementsAre("hash file"));
  EXPECT_EQ(steps.last_total, 6U);
  EXPECT_EQ(steps.last_done, 6U);
  EXPECT_EQ(steps.finished, 1);
  Steps none;
  trusted_sha256(file_, "", &none);
  EXPECT_THAT(none.labels, IsEmpty());
}

TEST_F(TrustedHash, KnowsAFileByAnyOfItsNames) {
  const std::string hash = trusted_sha256(file_);
  fs::create_symlink(file_, folder_.path() / "link");
  EXPECT_EQ(recorded_sha256(folder_.path() / "link"), hash);
  EXPECT_TRUE(forget_sha256(folder_.path() / "link"));
  EXPECT_EQ(recorded_sha256(file_), std::nullopt);
}

TEST_F(TrustedHash, TrustsWhatItsCallerVerified) {
  record_sha256(file_, "verified");
  EXPECT_EQ(recorded_sha256(file_), "verified");
  EXPECT_EQ(trusted_sha256(file_), "verified");
  touch();
  EXPECT_EQ(recorded_sha256(file_), std::nullopt);
}

TEST_F(TrustedHash, ForgetsAFileThatIsGone) {
  EXPECT_FALSE(forget_sha256(file_));
  trusted_sha256(file_);
  fs::remove(file_);
  EXPECT_TRUE(forget_sha256(file_));
  EXPECT_TRUE(fs::is_empty(hashes()));
}

TEST_F(TrustedHash, HashesAgainWhereTheRecordIsDamaged) {
  for (const char* damaged : {"", "{", "[]", "{}", R"({"identity": 7, "sha256": "x"})"}) {
    trusted_sha256(file_);
    write_file(fs::directory_iterator(hashes())->path(), damaged);
    EXPECT_EQ(recorded_sha256(file_), std::nullopt) << damaged;
    EXPECT_EQ(trusted_sha256(file_), sha256_hex("before")) << damaged;
  }
  const std::string no_text = R"({"identity": ")" + file_identity(file_) + R"(", "sha256": [1]})";
  write_file(fs::directory_iterator(hashes())->path(), no_text);
  EXPECT_EQ(trusted_sha256(file_), sha256_hex("before"));
}

TEST_F(TrustedHash, NamesAFileThatIsMissingOrNone) {
  for (const fs::path& path : {folder_.path() / "missing", folder_.path()}) {
    try {
      trusted_sha256(path);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(path.string() + ": "));
    }
  }
}

}  // namespace
}  // namespace drift
