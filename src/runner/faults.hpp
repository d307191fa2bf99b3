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
// Of cached decoding, from a task's second step on: see cache_faults.hpp.
//
//   overwrite  the position `at` of the KV cache holds the newest one's keys and values
//   mask       the mask is off by one: a token doesn't see itself
//   stale      the cache holds what the task that ran before in this process left in it
//   position   the position id is off by `size` (1)
//   wrap       the cache has `size` positions, and its index wraps: newer keys overwrite the oldest
//   prefill    the last `size` positions of the prompt are not yet written
//
//   step=N   in this step of a task, from 1; without it in every step
//   from=N, to=N  in the steps from N on, up to and with N
//   task=N   in the task with this id; without it in every task
//   every=N  in every Nth task only: those with the ids N - 1, 2 N - 1, …
//   op=NAME  (nan, bits and noise, which need it) the operation's name, as the tap gives it, or
//            that of a standalone operation, whose calls count as steps
//   (of a batch, operations and these two swaps belong to its first task)
//   row=N    (nan, bits and noise) only in results whose last dimension has at least N elements
//   at=N     (overwrite) a position of the cache, from 0
//   size=N   (position, wrap and prefill; the latter two need it) how many positions
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
    kSwapFrames,
    kOverwrite,
    kMask,
    kStale,
    kPosition,
    kWrap,
    kPrefill
  };

  Kind kind = Kind::kExit;
  std::optional<std::uint32_t> step;
  std::uint32_t from = 1;
  std::optional<std::uint32_t> to;
  std::optional<std::uint32_t> task;
  std::uint32_t every = 1;
  std::string operation;
  std::uint32_t row = 0;
  std::uint32_t at = 0;
  std::uint32_t size = 0;

  /// Whether the fault lies in the numbers of one operation.
  bool in_values() const {
    return kind == Kind::kNan || kind == Kind::kBits || kind == Kind::kNoise;
  }
  /// Whether it is one of cached decoding.
  bool in_cache() const { return kind >= Kind::kOverwrite; }
  bool applies(std::uint32_t in_task, std::uint32_t in_step) const {
    return task.value_or(in_task) == in_task && (in_task + 1) % every == 0 &&
           step.value_or(in_step) == in_step && in_step >= from && in_step <= to.value_or(in_step);
  }
};

/// Throws std::runtime_error, naming the text, when it isn't of the form above.
std::vector<Fault> parse_faults(const std::string& text);

}  // namespace drift::runner
