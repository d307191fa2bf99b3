#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace drift {

/// What a long step tells the person who waits. One step at a time.
class Progress {
 public:
  /// How amounts are printed: "412.0 MB of 881.9 MB", "120 of 960 tokens".
  enum class Unit { kBytes, kTokens, kItems };

  virtual ~Progress() = default;
  /// A step begins; `total` 0 when unknown.
  virtual void start(std::string_view label, std::uint64_t total, Unit unit) = 0;
  /// The amount done so far (not an increment). Cheap: prints a few times a second at most.
  virtual void update(std::uint64_t done) = 0;
  /// The step is done; its line stays as a plain line, or vanishes if it took no time.
  virtual void finish() = 0;
  /// One plain line, in between.
  virtual void note(std::string_view line) = 0;
};

/// On stderr: a bar with rate and time left when it is a terminal, plain lines every few seconds
/// otherwise.
std::unique_ptr<Progress> make_terminal_progress();

/// Prints nothing.
std::unique_ptr<Progress> make_silent_progress();

/// "881.9 MB": powers of 1000, one decimal.
std::string format_bytes(std::uint64_t bytes);

/// "42 s", "3 min 10 s", "2 h 5 min".
std::string format_duration(double seconds);

}  // namespace drift
