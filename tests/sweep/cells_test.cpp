#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/sweep.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;

using Values = std::map<std::string, std::string>;

const std::vector<Knob> kTwoKnobs = {{"threads", {"1", "2"}}, {"NAME", {"", "x", "y"}}};

/// "1: threads=2 NAME=x" of each cell, knobs by name.
std::vector<std::string> words_of(const std::vector<PlannedCell>& cells) {
  std::vector<std::string> words;
  for (const PlannedCell& cell : cells) {
    words.push_back(std::to_string(cell.build) + ":" + cell.values.at("threads") +
                    cell.values.at("NAME"));
  }
  return words;
}

TEST(PlannedCells, AreAllCombinations) {
  EXPECT_THAT(words_of(planned_cells(2, kTwoKnobs, false)),
              ElementsAre("0:1", "0:1x", "0:1y", "0:2", "0:2x", "0:2y", "1:1", "1:1x", "1:1y",
                          "1:2", "1:2x", "1:2y"));
}

TEST(PlannedCells, TurnOneKnobAtATimeAroundTheFirstValues) {
  EXPECT_THAT(words_of(planned_cells(2, kTwoKnobs, true)),
              ElementsAre("0:1", "0:2", "0:1x", "0:1y", "1:1", "1:2", "1:1x", "1:1y"));
}

TEST(PlannedCells, OfBuildsAloneAreTheBuilds) {
  EXPECT_EQ(planned_cells(3, {}, false).size(), 3U);
  EXPECT_EQ(planned_cells(3, {}, true).size(), 3U);
}

TEST(PlannedCells, AreRefusedWhereTheyAreTooMany) {
  const std::vector<Knob> many(13, Knob{"threads", {"1", "2"}});
  EXPECT_THROW(planned_cells(1, many, false), Error);
  EXPECT_EQ(planned_cells(1, many, true).size(), 14U);
  const std::vector<Knob> largest(12, Knob{"threads", {"1", "2"}});
  EXPECT_EQ(planned_cells(1, largest, false).size(), 4096U);
}

/// Two prompts, one window of a text, and the caller's variables.
AuditRequest request_under(const Values& values) {
  AuditRequest base;
  base.prompts.prompts.resize(2);
  base.prompts.prompts[0].text = "one";
  base.prompts.prompts[1].text = "two";
  Side side;
  side.threads = 3;
  return cell_request(base, side, values, {{"MKL_CBWR", "AVX2"}, {"PATH", "/bin"}}, {{"OWN", "1"}});
}

TEST(CellRequest, SetsNamedKnobs) {
  const AuditRequest request =
      request_under({{"threads", "2"}, {"cache", "off"}, {"sampler", "fixed"}});
  EXPECT_EQ(request.sides.at(0).threads, 2U);
  EXPECT_FALSE(request.settings.cache);
  EXPECT_EQ(request.settings.sampler, "fixed");
  EXPECT_FALSE(request.first_prompts_twice) << "all of it runs twice";
}

TEST(CellRequest, SetsDtypeAndConditions) {
  const AuditRequest request = request_under({{"dtype", "bfloat16"},
                                              {"interop-threads", "2"},
                                              {"memory-limit", "1G"},
                                              {"alignment", "16"},
                                              {"denormals", "flush"}});
  EXPECT_EQ(request.settings.dtype, "bfloat16");
  EXPECT_EQ(request.sides.at(0).dtype, "bfloat16");
  EXPECT_EQ(request.sides.at(0).conditions, (Conditions{2, std::uint64_t{1} << 30U, 16, true}));
  EXPECT_EQ(request_under({}).sides.at(0).conditions, Conditions{});
}

TEST(CellRequest, SetsAttentionWhereTheBuildHasIt) {
  Side side;
  side.build.version = "2.1.1+cpu";
  const auto kind = [&](const char* value) {
    return cell_request({}, side, {{"attention", value}}, {}, {}).sides.at(0).attention.kind;
  };
  EXPECT_EQ(kind("sdpa"), Attention::kSdpa);
  side.attention.kind = Attention::kSdpa;
  EXPECT_EQ(kind("eager"), Attention::kEager);
  EXPECT_EQ(cell_request({}, side, {}, {}, {}).sides.at(0).attention.kind, Attention::kSdpa);
  side.build.version = "2.1.0";
  EXPECT_EQ(kind("eager"), Attention::kEager);
  try {
    kind("sdpa");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "torch 2.1.0 has no sdpa attention, which takes 2.1.1 or newer");
  }
}

TEST(CellRequest, LeavesWhatNoKnobNames) {
  const AuditRequest request = request_under({});
  EXPECT_EQ(request.sides.at(0).threads, 3U);
  EXPECT_TRUE(request.settings.cache);
  EXPECT_EQ(request.sides[0].environment.variables,
            (Values{{"MKL_CBWR", "AVX2"}, {"PATH", "/bin"}, {"OWN", "1"}}));
}

TEST(CellRequest, SetsVariablesAndUnsetsThoseOfEmptyValue) {
  const RunnerEnvironment set =
      request_under({{"MKL_CBWR", "COMPATIBLE"}, {"OWN", ""}}).sides[0].environment;
  EXPECT_EQ(set.variables, (Values{{"MKL_CBWR", "COMPATIBLE"}, {"PATH", "/bin"}}));
  EXPECT_EQ(set.knobs, (Values{{"MKL_CBWR", "COMPATIBLE"}}));
  const RunnerEnvironment unset = request_under({{"MKL_CBWR", ""}}).sides[0].environment;
  EXPECT_EQ(unset.variables, (Values{{"OWN", "1"}, {"PATH", "/bin"}}));
}

TEST(CellRequest, ReversesPrompts) {
  EXPECT_EQ(request_under({{"prompt-order", "reversed"}}).prompts.prompts[0].text, "two");
  EXPECT_EQ(request_under({{"prompt-order", "given"}}).prompts.prompts[0].text, "one");
}

TEST(CellRequest, BatchesPromptsAndTurnsThem) {
  const AuditRequest request = request_under({{"batch", "2"}, {"batch-position", "1"}});
  EXPECT_EQ(request.settings.batch, 2U);
  EXPECT_EQ(request.prompts.prompts.at(0).text, "two");
  EXPECT_EQ(request.prompts.prompts.at(1).text, "one");
}

TEST(CellRequest, RepeatsAllPrompts) {
  const AuditRequest request = request_under({{"repeats", "2"}, {"prompt-order", "reversed"}});
  std::vector<std::string> texts;
  for (const Prompt& prompt : request.prompts.prompts) {
    texts.push_back(prompt.text);
  }
  EXPECT_THAT(texts, ElementsAre("two", "one", "two", "one"));
}

}  // namespace
}  // namespace drift
