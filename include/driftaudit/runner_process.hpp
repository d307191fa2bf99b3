#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "driftaudit/error.hpp"

#include "runner/wire.hpp"

namespace drift {

/// How a runner is started.
struct RunnerLaunch {
  std::string label;  ///< the side, for messages
  std::filesystem::path program;
  std::vector<std::string> launcher;  ///< a command before the program, such as {"ssh", "host"}
  /// The runner's whole environment: see runner_environment().
  std::map<std::string, std::string> environment;
  /// Silence on stdout and stderr after which a runner counts as hung, while next() waits.
  double timeout_seconds = 300;
};

/// What a runner says of itself, taken from its Hello.
struct RunnerFacts {
  std::string torch;           ///< "1.10.1"
  std::string cpu_capability;  ///< ATen's effective one: "DEFAULT", "AVX2", "AVX512"
  std::string blas;            ///< "MKL 2020.0.0", "OpenBLAS 0.3.29", "unknown"
  std::uint32_t aten_threads = 0;
  std::optional<std::uint32_t> blas_threads;  ///< null when the BLAS doesn't say
  std::optional<std::string> blas_dispatch;   ///< the kernels it goes for: "zen", "avx2"; likewise
  bool has_onednn = false;
};

RunnerFacts facts_from(const wire::Hello& hello);

/// Letters, digits and underscores, no digit first: what any environment takes as a name.
bool is_variable_name(const std::string& name);

/// The variables that a runner gets: a minimal set, the caller's of the known families (`ATEN_`,
/// `MKL_`, `OMP_`, `KMP_`, `GOMP_`, `DNNL_`, `ONEDNN_`, `OPENBLAS_`), then `own` on top.
struct RunnerEnvironment {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> knobs;  ///< those of known families and of `own`
  std::vector<std::string> dropped;          ///< LD_PRELOAD, LD_LIBRARY_PATH when they were set
};

RunnerEnvironment runner_environment(const std::map<std::string, std::string>& caller,
                                     const std::map<std::string, std::string>& own);

/// One runner at work. Its frames come in order through next(); the runner waits whenever they are
/// not taken, so memory stays bounded by one frame and the pipe. It is killed by the destructor,
/// and by the kernel when the thread that made it ends. SIGPIPE must be ignored, as
/// install_interrupt_handlers() does.
class RunnerProcess {
 public:
  using Event = std::variant<wire::Hello, wire::Step, wire::TaskEnd, wire::Done,
                             wire::OperationRecord, wire::Question, wire::Result>;

  /// Starts it and sends the job.
  RunnerProcess(const RunnerLaunch& launch, const wire::Job& job);
  ~RunnerProcess();
  RunnerProcess(RunnerProcess&&) noexcept;
  RunnerProcess& operator=(RunnerProcess&&) = delete;

  /// The next event. After Done there is none: don't ask. Errors (trouble), naming the side: it
  /// gave up (with its reason), or was killed, ended early, hung, or sent a malformed frame (with
  /// the end of its stderr). An interruption throws its own error.
  Event next();
  /// Answers a Step of a fed task; -1 ends the task.
  void feed(std::int32_t token);
  /// Gives inputs to the operation of the last Question, or of a kOperation task; a Result follows.
  /// A missing input stands for the pass's own one. What the pipe doesn't take at once is kept here
  /// and written while next() waits. A runner gives up at one that is no Call or too long for a
  /// frame.
  void call(std::vector<std::optional<wire::TensorData>> inputs);
  /// No more calls: the pass goes on, or the kOperation task ends.
  void end_calls();
  /// The end of what the runner has written to its stderr so far, at most a few kilobytes.
  std::string log_tail() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Error for a runner that sent another event than the one that must come next.
Error out_of_order(const std::string& side);

/// The event as what must come next; throws out_of_order().
template <class T>
T expect_event(RunnerProcess::Event event, const std::string& side) {
  if (T* expected = std::get_if<T>(&event)) {
    return std::move(*expected);
  }
  throw out_of_order(side);
}

}  // namespace drift
