#pragma once

// Faults that a test plants in a runner through Job::fault, to see what the driver makes of them.
// The text is faults separated by ';'. A fault is its kind, then after '@' its conditions separated
// by ',': `kill@step=3`, `nan@op=block.0.attn.softmax,step=2`, `text;hang@task=1,step=4`.
//
//   exit     the process ends with status 7, without a word
//   hang     it stops answering
//   kill     SIGKILL
//   fail     an exception, which becomes a Failure frame
//   garbage  bytes that are no frame are written among the frames
//   text     a line is printed to stdout, as MKL_VERBOSE does
//   nan      one element of an operation's result becomes NaN
//   bits     every element of an operation's result moves by one unit in the last place
//   noise    every element of an operation's result moves by an amount that differs by process
//   draw     a random number is drawn that nobody uses
//   second   the token with the second-highest logit is chosen
//   swap     the first two requests of a batch change places in the KV cache, and stay there
//   swap-frames  the answers of the first two requests of a batch are sent under each other's ids
//
//   step=N   in this step of a task, from 1; without it in every step
//   task=N   in the task with this id; without it in every task
//   op=NAME  (nan, bits and noise, which need it) the operation's name, as the tap gives it, or
//            that of a standalone operation, whose calls count as steps
//   (of a batch, operations and these two swaps belong to its first task)
//   row=N    (nan, bits and noise) only in results whose last dimension has at least N elements
//
// Needs the standard library alone.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace drift::runner {

struct Fault {
  enum class Kind {
    kExit,
    kHang,
    kKill,
    kFail,
    kGarbage,
    kText,
    kNan,
    kBits,
    kNoise,
    kDraw,
    kSecond,
    kSwap,
    kSwapFrames
  };

  Kind kind = Kind::kExit;
  std::optional<std::uint32_t> step;
  std::optional<std::uint32_t> task;
  std::string operation;
  std::uint32_t row = 0;

  /// Whether the fault lies in the numbers of one operation.
  bool in_values() const {
    return kind == Kind::kNan || kind == Kind::kBits || kind == Kind::kNoise;
  }
  bool applies(std::uint32_t in_task, std::uint32_t in_step) const {
    return task.value_or(in_task) == in_task && step.value_or(in_step) == in_step;
  }
};

/// Throws std::runtime_error, naming the text, when it isn't of the form above.
std::vector<Fault> parse_faults(const std::string& text);

}  // namespace drift::runner
