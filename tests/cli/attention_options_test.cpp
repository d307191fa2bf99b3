#include "cli/attention_options.hpp"

#include <filesystem>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

#include "cli/saved_options.hpp"

namespace drift {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

constexpr Attention kEager = Attention::kEager;
constexpr Attention kSdpa = Attention::kSdpa;

/// The error that `act` ends in, and its hint.
std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    return std::string(error.what()) + " | " + error.hint();
  }
  return "accepted";
}

/// Releases are known by their pins alone; nothing of them is fetched.
class PlannedAttention : public ::testing::Test {
 protected:
  /// A venv of which nothing is read but its versions.
  std::string venv(const std::string& torch, const std::string& transformers) {
    const fs::path folder = folder_.path() / (torch + "-" + transformers);
    const fs::path site = folder / "lib/python3.9/site-packages";
    make_folders(site / "torch/lib");
    std::ofstream(site / "torch/lib/libtorch_cpu.so") << "not read";
    std::ofstream(site / "torch/version.py") << "__version__ = '" + torch + "'\n";
    if (!transformers.empty()) {
      make_folders(site / ("transformers-" + transformers + ".dist-info"));
    }
    return folder.string();
  }

  std::vector<SideAttention> planned(const std::vector<std::string>& asked,
                                     const std::vector<std::string>& builds) const {
    RunOptions options;
    options.attention = asked;
    return planned_attention(options, builds);
  }

  /// "eager sdpa": of each build in turn.
  std::string kinds(const std::vector<std::string>& asked,
                    const std::vector<std::string>& builds) const {
    std::string words;
    for (const SideAttention& side : planned(asked, builds)) {
      words += (words.empty() ? "" : " ") + attention_words(side);
    }
    return words;
  }

  TemporaryFolder folder_{fs::temp_directory_path(), "attention"};
};

TEST_F(PlannedAttention, IsOneChoiceForAllBuilds) {
  EXPECT_EQ(kinds({}, {"2.5.1", "2.8.0"}), "sdpa sdpa");
  EXPECT_EQ(kinds({}, {"january-2022", "2.8.0"}), "eager eager");
  EXPECT_EQ(kinds({"auto"}, {"2.8.0", venv("2.8.0", "4.41.2")}), "eager eager");
  EXPECT_EQ(kinds({}, {venv("2.8.0", "4.57.1"), "2.8.0"}), "sdpa sdpa");
  EXPECT_EQ(kinds({}, {"2.1.0", "2.2.0", "2.3.0"}), "eager eager eager");
  EXPECT_EQ(kinds({}, {"torch-2.8.0+cpu-cp39-cp39-linux_x86_64.whl", "2.8.0"}), "sdpa sdpa");
  EXPECT_EQ(kinds({}, {"torch-1.13.1-cp39-cp39-linux_x86_64.whl", "2.8.0"}), "eager eager");
  EXPECT_EQ(kinds({}, {"/no/such/folder", "2.8.0"}), "sdpa sdpa") << "opening it will say so";
}

TEST_F(PlannedAttention, IsWhatWasAskedForASide) {
  EXPECT_EQ(kinds({"eager"}, {"2.5.1", "2.8.0"}), "eager eager");
  EXPECT_EQ(kinds({"B:eager"}, {"2.5.1", "2.8.0"}), "sdpa eager");
  EXPECT_EQ(kinds({"B:sdpa"}, {"1.13.1", "2.8.0"}), "eager sdpa");
  EXPECT_EQ(kinds({"eager", "A:auto"}, {"2.5.1", "2.8.0"}), "sdpa eager");
}

TEST_F(PlannedAttention, SaysWhatChoseIt) {
  EXPECT_EQ(planned({"eager"}, {"2.8.0"})[0].choice, "--attention");
  EXPECT_THAT(planned({}, {"2.8.0", "1.13.1"})[0].choice.value(),
              HasSubstr("auto: torch 1.13.1 has no other"));
  EXPECT_EQ(planned({}, {venv("2.8.0", "4.57.1")})[0].transformers, "4.57.1");
  EXPECT_FALSE(planned({}, {"2.8.0"})[0].transformers);
  EXPECT_EQ(planned({}, {"2.8.0", venv("2.8.0", "4.57.1")})[0].transformers, "4.57.1")
      << "followed";
}

TEST_F(PlannedAttention, ScalesAsTheVenvsTransformers) {
  const std::string five = venv("2.8.0", "5.4.0");
  EXPECT_EQ(kinds({"eager"}, {five, "2.8.0"}),
            "eager (scaled as transformers 5.4) eager (scaled as transformers 5.4)");
  EXPECT_EQ(kinds({"eager"}, {five, venv("2.8.0", "4.57.1")}),
            "eager (scaled as transformers 5.4) eager");
  EXPECT_EQ(kinds({}, {five, "2.8.0"}), "sdpa sdpa");
}

TEST_F(PlannedAttention, RefusesByNameWhatABuildCannotDo) {
  const std::string release = refusal([&] { planned({"sdpa"}, {"2.8.0", "1.13.1"}); });
  EXPECT_THAT(release, HasSubstr("torch 1.13.1: --attention sdpa takes torch 2.1.1 or newer"));
  EXPECT_THAT(release, HasSubstr("| --attention eager is what every build has"));
  const std::string old = venv("2.0.1", "");
  EXPECT_THAT(refusal([&] {
                planned({"A:sdpa"}, {old, "2.8.0"});
              }),
              HasSubstr(old + " (torch 2.0.1): --attention sdpa takes"));
  EXPECT_EQ(kinds({"A:sdpa"}, {"2.8.0", "1.13.1"}), "sdpa eager");
  EXPECT_THAT(refusal([&] { planned({"flash"}, {"2.8.0"}); }),
              HasSubstr("--attention flash: not eager, sdpa or auto"));
}

/// Beside a side that was recorded so.
class AttentionBeside : public PlannedAttention {
 protected:
  static SavedSide saved(const SideAttention& attention) {
    Report report;
    report.builds.resize(1);
    report.builds[0].torch = "2.8.0";
    report.builds[0].attention = attention;
    SavedSide side;
    side.name = "base.json";
    side.report = std::make_shared<const Report>(std::move(report));
    return side;
  }

  static SideAttention beside(const SideAttention& there, const std::vector<std::string>& asked,
                              const std::string& build) {
    RunOptions options;
    options.attention = asked;
    return attention_beside(saved(there), options, build, 1);
  }
};

TEST_F(AttentionBeside, RepeatsTheRecordedOne) {
  EXPECT_EQ(beside({kSdpa, {}, {}, {}}, {}, "2.5.1").kind, kSdpa);
  EXPECT_EQ(beside({}, {}, "2.5.1").kind, kEager) << "as reports of before there was a choice";
  EXPECT_EQ(beside({}, {"auto"}, "2.5.1").kind, kEager);
  EXPECT_EQ(beside({}, {}, "2.5.1").choice, "as in base.json");
  EXPECT_EQ(beside({}, {"sdpa"}, "2.5.1").kind, kSdpa);
  EXPECT_EQ(beside({kSdpa, {}, {}, {}}, {"B:eager"}, "1.13.1").kind, kEager);
}

TEST_F(AttentionBeside, RepeatsItsScaleUnlessTheVenvHasItsOwn) {
  const SideAttention multiplied{kEager, ScoreScale::kMultiply, {}, {}};
  EXPECT_EQ(beside(multiplied, {}, "2.8.0").scale, ScoreScale::kMultiply);
  EXPECT_EQ(beside(multiplied, {}, venv("2.8.0", "4.57.1")).scale, ScoreScale::kDivide);
  EXPECT_EQ(beside({}, {}, venv("2.8.0", "5.24.0")).scale, ScoreScale::kMultiply);
  EXPECT_EQ(beside({kSdpa, {}, {}, "5.24.0"}, {"eager"}, "2.8.0").scale, ScoreScale::kMultiply);
}

TEST_F(AttentionBeside, RefusesABuildThatCannotRepeatIt) {
  EXPECT_THAT(
      refusal([] {
        beside({kSdpa, {}, {}, {}}, {}, "1.13.1");
      }),
      HasSubstr("torch 1.13.1: the sdpa attention of base.json takes torch 2.1.1 or newer"));
  EXPECT_THAT(refusal([] { beside({}, {"sdpa"}, "1.13.1"); }), HasSubstr("--attention sdpa takes"));
}

TEST_F(AttentionBeside, IsNoBusinessOfTheSavedSide) {
  RunOptions options;
  options.attention = {"A:eager"};
  EXPECT_THAT(refusal([&] { with_saved_conditions(saved({}), options, 1); }),
              HasSubstr("--attention A:eager: side A is saved in base.json"));
}

}  // namespace
}  // namespace drift
