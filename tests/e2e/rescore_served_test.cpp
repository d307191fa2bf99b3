// Files of log-probabilities as servers write them: sound, mostly wrong, and after temperature.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/file.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Files that a server of mini answered with; see served/.
class Served : public ::testing::Test {
 protected:
  ProgramRun score(const std::string& name, std::vector<std::string> options = {}) {
    const fs::path file = fs::path(DRIFTAUDIT_SOURCE_FOLDER) / "tests/e2e/served" / name;
    std::vector<std::string> arguments = {"rescore",    december(),    "--model", "mini",
                                          "--logprobs", file.string(), "--quiet"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments, folder_.path());
  }

  json record() const { return json::parse(read_file(folder_.path() / "report.json"))["rescore"]; }

  std::vector<std::string> failing() const {
    std::vector<std::string> failing;
    const json found = record();
    for (const json& request : found["requests"]) {
      if (!request["first_outlier"].is_null()) {
        failing.push_back(request["request_id"]);
      }
    }
    return failing;
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(Served, SoundIsSound) {
  const ProgramRun done = score("ok.jsonl");
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("verdict  no outliers: the prefill says what decoding said"));
  EXPECT_THAT(record()["requests"], SizeIs(4));
  EXPECT_LT(record()["noise"]["own"], 1e-4);
}

TEST_F(Served, MostlyWrongIsFoundByItsQuietestRequest) {
  const ProgramRun done = score("nopos.jsonl");
  EXPECT_EQ(done.status, 1) << done.out << done.err;
  EXPECT_THAT(failing(), ElementsAre("r1", "r2", "r3"));
  EXPECT_EQ(record()["limit"], 1e-3);
}

TEST_F(Served, AfterTemperatureIsNamedAndTrips) {
  const ProgramRun done = score("temp.jsonl");
  EXPECT_EQ(done.status, 1) << done.out << done.err;
  const json rule = record()["rule"];
  ASSERT_TRUE(rule.is_object()) << done.out;
  EXPECT_EQ(rule["temperature"], 0.7);
  EXPECT_EQ(rule["tokens"], 80);
  EXPECT_LT(rule["max"], 1e-4);
  EXPECT_THAT(done.out, HasSubstr("consistent with temperature 0.7"));
  EXPECT_THAT(done.out, HasSubstr("--logprobs-temperature 0.7"));
  const ProgramRun again = score("temp.jsonl", {"--logprobs-temperature", "0.7"});
  EXPECT_EQ(again.status, 0) << again.out << again.err;
  EXPECT_THAT(record()["outliers"], IsEmpty());
}

TEST_F(Served, TwoOfTenAreFound) {
  const ProgramRun done = score("2of10.jsonl");
  EXPECT_EQ(done.status, 1) << done.out << done.err;
  EXPECT_THAT(failing(), ElementsAre("q3", "q7"));
}

}  // namespace
}  // namespace drift::e2e
