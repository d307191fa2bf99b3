// The `model` command, as a person runs it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/process.hpp"

#include "model/test_data.hpp"

namespace drift {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ModelCommand : public ::testing::Test {
 protected:
  ProcessResult run(std::vector<std::string> arguments,
                    const std::map<std::string, std::string>& more = {}) const {
    Command command{{DRIFTAUDIT_PROGRAM, "model"}, current_environment(), {}};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    auto& environment = *command.environment;
    environment["DRIFTAUDIT_DATA"] = test::source_folder().string();
    environment["DRIFTAUDIT_CACHE"] = (folder_.path() / "cache").string();
    environment["HF_HOME"] = (folder_.path() / "hugging-face").string();
    environment.erase("HF_HUB_CACHE");
    for (const auto& [name, value] : more) {
      environment[name] = value;
    }
    return run_process(command);
  }
  std::string out(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryFolder folder_ = test::scratch_folder();
};

TEST_F(ModelCommand, TellsWhatAModelIs) {
  const ProcessResult result = run({"info", "mini", "--quiet"});
  EXPECT_EQ(result.end.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("model      mini\n"),
                    HasSubstr("4 layers, 4 heads, width 256, inner width 1024, context 512"),
                    HasSubstr("stored as float16, output head tied"),
                    HasSubstr("vocabulary 4096 tokens, end of text 0"),
                    HasSubstr((test::mini_folder()).string()), HasSubstr(out("cache")),
                    HasSubstr("sha256     ")));
}

TEST_F(ModelCommand, TakesMiniOffline) {
  const ProcessResult result = run({"info", "--offline"});
  EXPECT_EQ(result.end.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("mini (gpt2 isn't cached, and --offline is set)"));
}

TEST_F(ModelCommand, MakesACheckpointOfEveryFormatThatItCanRead) {
  std::string digest;
  for (const std::string format : {"safetensors", "torch-zip", "torch-legacy"}) {
    const ProcessResult made =
        run({"make", "--preset", "tiny", "--seed", "3", "--format", format, "--out", out(format)});
    ASSERT_EQ(made.end.exit_code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr(out(format)));
    const ProcessResult info = run({"info", out(format), "--quiet"});
    ASSERT_EQ(info.end.exit_code, 0) << info.err;
    const std::string found = info.out.substr(info.out.find("sha256"));
    EXPECT_EQ(digest.empty() ? found : digest, found) << format;
    digest = found;
  }
}

TEST_F(ModelCommand, MakesTheDtypeThatIsAskedFor) {
  ASSERT_TRUE(run({"make", "--preset", "tiny", "--dtype", "bfloat16", "--out", out("b")}).end.ok());
  EXPECT_THAT(run({"info", out("b")}).out, HasSubstr("stored as bfloat16"));
}

TEST_F(ModelCommand, RefusesBadUsageInOneLine) {
  const std::vector<std::vector<std::string>> bad = {
      {},
      {"info", "nothing-here"},
      {"fetch"},
      {"fetch", "gpt3"},
      {"make"},
      {"make", "--preset", "huge", "--out", out("x")},
      {"make", "--format", "gguf", "--out", out("x")},
      {"make", "--dtype", "int8", "--out", out("x")},
      {"make", "--seed", "-1", "--out", out("x")}};
  for (const auto& arguments : bad) {
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.end.exit_code, 2) << result.out << result.err;
    EXPECT_THAT(result.err, StartsWith("error: "));
    EXPECT_EQ(result.err.find("error:", 1), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(out("x")));
}

TEST_F(ModelCommand, SaysThatTheHubIsOutOfReach) {
  const ProcessResult result = run(
      {"fetch", "gpt2"},
      {{"HF_ENDPOINT", "http://127.0.0.1:9"}, {"no_proxy", "127.0.0.1"}, {"HF_HUB_OFFLINE", ""}});
  EXPECT_EQ(result.end.exit_code, 3) << result.out << result.err;
  EXPECT_THAT(result.err, StartsWith("error: http://127.0.0.1:9/openai-community/gpt2/resolve/"));
  EXPECT_THAT(result.err, HasSubstr("\nhint: "));
}

}  // namespace
}  // namespace drift
