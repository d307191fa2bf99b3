#include "driftaudit/logits_file.hpp"

#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;

std::string digest_of(Logits logits) { return xxh3_128_hex(std::as_bytes(logits)); }

class LogitsFileTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-logits"};
  fs::path path_ = folder_.path() / "base.logits";
  std::vector<float> first_ = {1.5F, -0.0F, 1e-40F, std::numeric_limits<float>::infinity()};
  std::vector<float> second_ = {0.1F, 0.2F, -3e38F, 4.0F};

  LogitsRecord written() {
    LogitsWriter writer(path_, 4);
    writer.add(1, 1, second_);
    writer.add(0, 1, first_);
    return writer.commit();
  }
  std::string refusal(const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(path_.string()));
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(LogitsFileTest, IsNamedAfterItsReport) {
  EXPECT_EQ(logits_path("a/base.json"), "a/base.logits");
  EXPECT_EQ(logits_path("a/base.json.zst"), "a/base.logits");
}

TEST_F(LogitsFileTest, GivesEveryBitBack) {
  const LogitsFile file(folder_.path(), written());
  EXPECT_EQ(file.vocabulary(), 4U);
  const std::vector<float> first = file.logits(0, 1, digest_of(first_));
  EXPECT_EQ(digest_of(first), digest_of(first_));
  EXPECT_EQ(file.logits(1, 1, digest_of(second_)), second_);
}

TEST_F(LogitsFileTest, RefusesAStepThatItDoesNotHold) {
  const LogitsFile file(folder_.path(), written());
  EXPECT_THAT(refusal([&] { file.logits(0, 2, digest_of(first_)); }),
              HasSubstr("no logits of run 0, step 2"));
}

TEST_F(LogitsFileTest, RefusesLogitsOfAnotherDigest) {
  const LogitsFile file(folder_.path(), written());
  EXPECT_THAT(refusal([&] { file.logits(0, 1, digest_of(second_)); }),
              HasSubstr("run 0, step 1: the logits don't have the report's digest"));
}

TEST_F(LogitsFileTest, RefusesAnotherReportsFile) {
  const LogitsRecord record = written();
  std::string bytes = read_file(path_);
  bytes[40] = static_cast<char>(bytes[40] ^ 1);
  write_file(path_, bytes);
  EXPECT_THAT(refusal([&] { LogitsFile(folder_.path(), record); }),
              HasSubstr("not the file that its report was written with"));
  write_file(path_, bytes.substr(1));
  EXPECT_THAT(refusal([&] { LogitsFile(folder_.path(), record); }), HasSubstr("not the file"));
  fs::remove(path_);
  EXPECT_THAT(refusal([&] { LogitsFile(folder_.path(), record); }), HasSubstr("No such file"));
}

TEST_F(LogitsFileTest, RefusesAnIndexThatLies) {
  const LogitsRecord record = written();
  const std::string sound = read_file(path_);
  // The header's index offset and count, then the first entry's offset and size, and a name twice.
  const std::size_t index = sound.size() - 48;
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{16}, std::size_t{24}, index + 8 + 6, index + 16 + 6}) {
    std::string lying = sound;
    lying[at] = static_cast<char>(lying[at] ^ 0x40);
    write_file(path_, lying);
    const LogitsRecord own{record.file, lying.size(), sha256_hex(lying)};
    EXPECT_NE(refusal([&] { LogitsFile(folder_.path(), own); }), "accepted") << at;
  }
  std::string twice = sound;
  twice[index] = 0;
  write_file(path_, twice);
  EXPECT_THAT(refusal([&] {
                LogitsFile(folder_.path(), {record.file, twice.size(), sha256_hex(twice)});
              }),
              HasSubstr("stands twice"));
}

TEST_F(LogitsFileTest, IsNotThereBeforeItIsWhole) {
  {
    LogitsWriter writer(path_, 4);
    writer.add(0, 1, first_);
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace drift
