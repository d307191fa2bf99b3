#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace drift {

class TemporaryFolder;

/// What to run, with what and where.
struct Command {
  /// The program first. Without a slash it is looked up in PATH; with one it is a path from the
  /// caller's folder. Other paths must be absolute unless `working_folder` is given.
  std::vector<std::string> arguments;
  /// The whole environment; without it the caller's own.
  std::optional<std::map<std::string, std::string>> environment;
  /// Where it starts. Empty, as in all that isn't a test: an empty folder of its own, which goes
  /// with the child, so that nothing that lies where the person stands is taken for a part of a
  /// program: a module of Python, a shared library, a tool, a configuration. The child's PATH then
  /// has no relative folders.
  std::filesystem::path working_folder;
};

/// How a process ended. Exactly one of the two is meant: `signal` is 0 for a normal exit.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;

  bool ok() const { return signal == 0 && exit_code == 0; }
  /// "exit status 3" or "signal 9 (Killed)".
  std::string describe() const;
};

/// A child in a process group of its own, which dies with the parent and is killed, group and all,
/// by the destructor. Errors (trouble): the program can't be started.
class ChildProcess {
 public:
  /// Where a standard stream of the child goes.
  enum class Stream { kNull, kPipe, kInherit };
  struct Streams {
    Stream in = Stream::kNull;
    Stream out = Stream::kPipe;
    Stream err = Stream::kInherit;
  };

  ChildProcess(const Command& command, Streams streams);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  int in() const { return in_; }    ///< write end of the child's stdin, or -1
  int out() const { return out_; }  ///< read end of its stdout, or -1
  int err() const { return err_; }  ///< read end of its stderr, or -1
  void close_in();
  /// Waits for the end; idempotent.
  ProcessEnd wait();
  /// SIGKILL to the whole group, then wait().
  void kill();
  /// SIGTERM to the whole group, which a build tool passes on to compilers that it has put into
  /// groups of their own; kill() if the group isn't empty after `patience`.
  void terminate(std::chrono::milliseconds patience);

 private:
  std::unique_ptr<TemporaryFolder> folder_;  ///< where it stands, unless it was told
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  std::optional<ProcessEnd> end_;
};

/// What a process that ran to its end left behind.
struct ProcessResult {
  ProcessEnd end;
  std::string out;
  std::string err;
};

/// Runs a command to its end and keeps its output; `on_output` also sees each piece as it comes
/// (stdout and stderr alike), and `on_wait` is called several times a second while it runs. An
/// interruption terminates it and throws.
ProcessResult run_process(const Command& command,
                          const std::function<void(std::string_view)>& on_output = {},
                          const std::function<void()>& on_wait = {});

/// The caller's environment as a map.
std::map<std::string, std::string> current_environment();

/// The value of an environment variable; empty and unset are the same.
std::string environment_value(const char* name);

/// Full path of a program in PATH, or nothing. Relative folders of PATH, the empty one among them,
/// are passed over: they would mean whatever lies where the person stands.
std::optional<std::filesystem::path> find_program(std::string_view name);

}  // namespace drift
