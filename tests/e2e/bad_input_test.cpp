// Bad input and bad luck, each through the built program: one error line that names the place, a
// hint, the documented status, and nothing half-written.
#include <chrono>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/file.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BadInput : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  std::string file(const std::string& name, const std::string& bytes) {
    write_file(folder() / name, bytes);
    return (folder() / name).string();
  }

  /// An audit that must fail before any build is needed: with an empty cache and no network.
  ProgramRun audit(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"audit", "--offline", "--quiet"});
    return run_program(arguments, folder(), {{"DRIFTAUDIT_CACHE", (folder() / "cache").string()}});
  }

  void expect_error(const ProgramRun& run, int status, const std::string& part) {
    EXPECT_EQ(run.status, status) << run.err;
    EXPECT_TRUE(has_one_error_line(run.err)) << run.err;
    EXPECT_THAT(run.err, HasSubstr(part));
    EXPECT_THAT(run.out, IsEmpty());
    EXPECT_FALSE(fs::exists(folder() / "report.json"));
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-bad"};
};

TEST_F(BadInput, AnUnknownReleaseIsNamed) {
  expect_error(audit({"9.9.9", "1.13.1", "--model", "mini"}), 2, "9.9.9");
}

TEST_F(BadInput, AReleaseThatIsNotThereOfflineSaysSo) {
  expect_error(audit({"1.12.0", "1.13.1", "--model", "mini"}), 3, "1.12.0");
}

TEST_F(BadInput, AnAttentionThatABuildLacksIsRefusedBeforeAnythingIsFetched) {
  const ProgramRun release = audit({"1.13.1", "2.8.0", "--model", "mini", "--attention", "sdpa"});
  expect_error(release, 2, "error: torch 1.13.1: --attention sdpa takes torch 2.1.1 or newer");
  EXPECT_THAT(release.err, HasSubstr("hint: --attention eager"));
  const std::string site = "venv/lib/python3.9/site-packages/torch";
  fs::create_directories(folder() / site / "lib");
  file(site + "/lib/libtorch_cpu.so", "not read");
  file(site + "/version.py", "__version__ = '2.0.1+cpu'\n");
  expect_error(audit({"2.8.0", "venv", "--model", "mini", "--attention", "B:sdpa"}), 2,
               "error: venv (torch 2.0.1+cpu): --attention sdpa takes");
  // With no build refused the next thing is to fetch one.
  expect_error(audit({"1.13.1", "2.8.0", "--model", "mini", "--attention", "B:sdpa"}), 3,
               "torch 1.13.1: not in the cache");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"bisect", "1.13.1", "2.8.0"},
        {"sweep", "2.8.0", "2.1.0"},
        {"study", "1.13.1", "2.8.0"},
        {"rescore", "2.1.0"},
        {"record", "2.1.0", "--out", "a.json"},
        {"localize", "2.8.0", "2.1.0"}}) {
    std::vector<std::string> asked = command;
    asked.insert(asked.end(), {"--attention", "sdpa", "--model", "mini", "--offline", "--quiet"});
    const ProgramRun run =
        run_program(asked, folder(), {{"DRIFTAUDIT_CACHE", (folder() / "cache").string()}});
    expect_error(run, 2, "--attention sdpa takes torch 2.1.1 or newer");
  }
}

TEST_F(BadInput, AttentionsThatMakeNoSenseAreRefused) {
  expect_error(audit({"2.8.0", "2.8.0", "--model", "mini", "--attention", "flash"}), 2,
               "--attention flash: not eager, sdpa or auto");
  const auto run = [&](std::vector<std::string> asked) {
    asked.insert(asked.end(), {"--offline", "--quiet"});
    return run_program(asked, folder(), {{"DRIFTAUDIT_CACHE", (folder() / "cache").string()}});
  };
  expect_error(run({"bisect", "2.5.1", "2.8.0", "--attention", "A:eager"}), 2,
               "a bisection runs all builds alike");
  expect_error(run({"bisect", "2.5.1", "2.8.0", "--probe", "softmax", "--attention", "eager"}), 2,
               "--attention: --probe asks no model");
  expect_error(run({"localize", "2.5.1", "2.8.0", "--attention", "A:eager"}), 2,
               "other attention has other operations");
  expect_error(run({"sweep", "2.8.0", "--knob", "attention=eager,sdpa", "--attention", "eager"}), 2,
               "attention: is a knob of this sweep and is set by an option too");
  expect_error(run({"sweep", "2.8.0", "--knob", "attention=eager,flash"}), 2,
               "\"flash\" is not one of eager, sdpa");
}

TEST_F(BadInput, AFolderWithoutTorchIsNamed) {
  fs::create_directories(folder() / "venv" / "lib" / "python3.9" / "site-packages");
  expect_error(audit({(folder() / "venv").string(), "1.13.1", "--model", "mini"}), 2, "venv");
}

TEST_F(BadInput, OneSideAloneIsBadUsage) { expect_error(audit({"1.10.1"}), 2, "two sides"); }

TEST_F(BadInput, AnUnknownCommandIsNamed) {
  expect_error(run_program({"bogus"}, folder()), 2, "bogus: no such command");
  expect_error(run_program({}, folder()), 2, "no command is given");
}

TEST_F(BadInput, AnUnknownOptionIsBadUsage) {
  expect_error(audit({"--no-such-option"}), 2, "--no-such-option");
}

TEST_F(BadInput, AnUnknownModeIsBadUsage) {
  expect_error(audit({"--mode", "greedily"}), 2, "greedily");
}

TEST_F(BadInput, ScoringNeedsAText) {
  expect_error(audit({"--mode", "score"}), 2, "--text");
  expect_error(audit({"--text", file("t", "text")}), 2, "--text");
}

TEST_F(BadInput, AnUnknownModelIsNamed) { expect_error(audit({"--model", "gpt5"}), 2, "gpt5"); }

struct PromptCase {
  std::string name;
  std::string file;
  std::string bytes;
  std::string part;
};

class BadPrompts : public BadInput, public ::testing::WithParamInterface<PromptCase> {};

TEST_P(BadPrompts, AreNamedWithFileAndPlace) {
  const PromptCase& bad = GetParam();
  const std::string path = file(bad.file, bad.bytes);
  const ProgramRun run = audit({"--model", "mini", "--prompts", path});
  expect_error(run, 2, bad.file);
  EXPECT_THAT(run.err, HasSubstr(bad.part));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadPrompts,
    ::testing::Values(PromptCase{"Empty", "p.txt", "", "no prompt"},
                      PromptCase{"OnlyBlankLines", "p.txt", "\n \r\n", "no prompt"},
                      PromptCase{"NotUtf8", "p.txt", "fine\nbad \xff\n", "line 2"},
                      PromptCase{"BadEscape", "p.txt", "a \\q\n", "line 1"},
                      PromptCase{"NotJson", "p.json", "[\"a\",", "p.json"},
                      PromptCase{"DeeplyNested", "p.json",
                                 std::string(100000, '[') + std::string(100000, ']'), "nested"},
                      PromptCase{"HugeNumber", "p.json", "[[1e999]]", "too large"},
                      PromptCase{"IdOutsideTheVocabulary", "p.json", "[[1, 999999]]", "999999"},
                      PromptCase{"NegativeId", "p.json", "[[1, -1]]", "-1"}),
    [](const auto& bad) { return bad.param.name; });

TEST_F(BadInput, APromptLongerThanTheContextIsNamed) {
  std::string words;
  for (int i = 0; i < 600; ++i) {
    words += "word ";
  }
  expect_error(audit({"--model", "mini", "--prompts", file("p.txt", "ok\n" + words)}), 2, "line 2");
}

TEST_F(BadInput, ATextThatIsTooShortOrNotUtf8IsNamed) {
  expect_error(audit({"--model", "mini", "--mode", "score", "--text", file("t", "")}), 2, "t: ");
  expect_error(audit({"--model", "mini", "--mode", "score", "--text", file("t", "\xff\xfe")}), 2,
               "t: ");
}

TEST_F(BadInput, AnOutputThatWouldReplaceAnInputIsRefused) {
  const std::string prompts = file("p.txt", "One");
  expect_error(audit({"--model", "mini", "--prompts", prompts, "--out", "./p.txt"}), 2, "p.txt");
  EXPECT_EQ(read_file(prompts), "One");
  expect_error(audit({"--model", "mini", "--out", "same", "--markdown", "same"}), 2, "same");
}

TEST_F(BadInput, ADeviceIsNoOutput) {
  expect_error(audit({"--model", "mini", "--markdown", "/dev/null"}), 2, "/dev/null");
}

TEST_F(BadInput, APathThatTheSystemRefusesIsNamed) {
  expect_error(audit({"--model", "mini", "--out", std::string(300, 'x')}), 2, "xxx");
  expect_error(audit({"--model", "mini", "--prompts", std::string(300, 'x')}), 2, "xxx");
}

TEST_F(BadInput, NumbersThatAreNoneAreBadUsage) {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--temperature", "nan"},
                                                        {"--runner-timeout", "nan"},
                                                        {"--seed", "-1"},
                                                        {"--seed", "18446744073709551616"},
                                                        {"--seed", "010"},
                                                        {"--top-k", "-1"},
                                                        {"--new-tokens", "0"},
                                                        {"--keep-top", "1"}}) {
    expect_error(audit({option + "=" + value}), 2, value);
  }
}

TEST_F(BadInput, AStdoutThatCannotBeWrittenIsAnError) {
  const ProgramRun run = run_program({"builds", "list", "--all"}, folder(), {});
  EXPECT_EQ(run.status, 0);
  const ProcessResult full = run_process(
      {{"sh", "-c", std::string(DRIFTAUDIT_PROGRAM) + " builds list --all > /dev/full"}, {}, {}});
  EXPECT_EQ(full.end.exit_code, 2);
  EXPECT_THAT(full.err, HasSubstr("error: stdout can't be written"));
}

TEST_F(BadInput, AnOutputThatCannotBeWrittenIsRefusedAtOnce) {
  expect_error(audit({"--model", "mini", "--out", "no/such/folder/report.json"}), 2,
               "no/such/folder/report.json");
}

/// A copy of mini whose weights file is spoilt.
class BadWeights : public BadInput {
 protected:
  const std::string mini_ = std::string(DRIFTAUDIT_SOURCE_FOLDER) + "/models/mini";

  ProgramRun audit_with_weights(const std::string& name, const std::string& bytes) {
    fs::copy(mini_, folder() / "model");
    fs::remove(folder() / "model" / "model.safetensors");
    write_file(folder() / "model" / name, bytes);
    return audit({"--model", (folder() / "model").string()});
  }
};

TEST_F(BadWeights, ThatAreTruncatedAreNamed) {
  const std::string whole = read_file(fs::path(mini_) / "model.safetensors");
  expect_error(audit_with_weights("model.safetensors", whole.substr(0, whole.size() / 2)), 2,
               "model.safetensors");
}

TEST_F(BadWeights, ThatAskForCodeAreRefusedByTheNameOfWhatTheyAskFor) {
  // The legacy stream's magic number, then a pickle that would call os.system("touch owned").
  const std::string magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  const std::string protocol("\x80\x02M\xe9\x03.", 6);
  const std::string system_info("\x80\x02}X\x0d\x00\x00\x00little_endian\x88s.", 23);
  const std::string call(
      "\x80\x02"
      "cos\nsystem\n(X\x0b\x00\x00\x00touch ownedtR.",
      34);
  const ProgramRun run =
      audit_with_weights("pytorch_model.bin", magic + protocol + system_info + call);
  expect_error(run, 2, "os.system");
  EXPECT_FALSE(fs::exists(folder() / "owned"));
}

TEST_F(BadWeights, OfAnotherModelAreNamed) {
  const ProgramRun made =
      run_program({"model", "make", "--preset", "tiny", "--out", "tiny", "--quiet"}, folder());
  ASSERT_EQ(made.status, 0) << made.err;
  expect_error(
      audit_with_weights("model.safetensors", read_file(folder() / "tiny" / "model.safetensors")),
      2, "wte.weight");
}

class BadRunner : public BadInput {
 protected:
  /// A real audit with a fault planted in side B.
  ProgramRun audit_with(const std::string& fault, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"audit", january(), january(), "--quiet",      "--model",
                                          "mini",  "--mode",  "greedy",  "--new-tokens", "5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, folder(), {{"DRIFTAUDIT_TEST_FAULT", "B:" + fault}});
  }
};

TEST_F(BadRunner, ThatIsKilledIsNamedWithItsSignal) {
  expect_error(audit_with("kill@step=3"), 3, "signal 9");
}

TEST_F(BadRunner, ThatExitsEarlyIsNamedWithItsStatus) {
  expect_error(audit_with("exit@step=3"), 3, "exit status 7");
}

TEST_F(BadRunner, ThatHangsIsGivenUp) {
  expect_error(audit_with("hang@step=3", {"--runner-timeout", "2"}), 3, "2");
}

TEST_F(BadRunner, ThatFailsSaysWhy) { expect_error(audit_with("fail@step=3"), 3, "planted"); }

TEST_F(BadRunner, ThatSpeaksNoSenseIsNamed) {
  expect_error(audit_with("garbage@step=3"), 3, "B (");
}

TEST_F(BadRunner, ThatPrintsToStdoutDoesNoHarm) {
  EXPECT_EQ(audit_with("text").status, 0);
  EXPECT_TRUE(fs::exists(folder() / "report.json"));
}

/// The process ids of a process's children, read from /proc.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    std::string stat;
    try {
      const ProcessResult cat = run_process({{"cat", entry.path() / "stat"}, {}, {}});
      stat = cat.out;
    } catch (const std::exception&) {
      continue;
    }
    const std::size_t after_name = stat.rfind(") ");
    if (after_name != std::string::npos &&
        std::stol(stat.substr(after_name + 4)) == static_cast<long>(parent)) {
      children.push_back(static_cast<pid_t>(std::stol(name)));
    }
  }
  return children;
}

class Signals : public BadRunner, public ::testing::WithParamInterface<int> {};

TEST_P(Signals, EndTheChildrenAndLeaveNoReport) {
  // B hangs, so the audit stands still with both runners alive.
  ChildProcess program(
      program_command({"audit", january(), january(), "--quiet", "--model", "mini"}, folder(),
                      {{"DRIFTAUDIT_TEST_FAULT", "B:hang@step=3"}}),
      {ChildProcess::Stream::kNull, ChildProcess::Stream::kNull, ChildProcess::Stream::kPipe});
  std::vector<pid_t> children;
  for (int i = 0; i < 600 && children.size() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    children = children_of(program.pid());
  }
  ASSERT_EQ(children.size(), 2U);
  ASSERT_EQ(::kill(program.pid(), GetParam()), 0);
  const ProcessEnd end = program.wait();
  EXPECT_EQ(end.exit_code, 128 + GetParam()) << end.describe();
  for (const pid_t child : children) {
    EXPECT_NE(::kill(child, 0), 0) << "a runner is still alive";
  }
  EXPECT_FALSE(fs::exists(folder() / "report.json"));
}

INSTANTIATE_TEST_SUITE_P(Both, Signals, ::testing::Values(SIGINT, SIGTERM), [](const auto& number) {
  return number.param == SIGINT ? "Interrupt" : "Terminate";
});

}  // namespace
}  // namespace drift::e2e
