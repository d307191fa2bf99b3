#include "driftaudit/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/core.h>

namespace drift {
namespace {

using Clock = std::chrono::steady_clock;

std::string format_amount(std::uint64_t amount, Progress::Unit unit) {
  return unit == Progress::Unit::kBytes ? format_bytes(amount) : fmt::format("{}", amount);
}

class SilentProgress final : public Progress {
 public:
  void start(std::string_view, std::uint64_t, Unit) override {}
  void update(std::uint64_t) override {}
  void finish() override {}
  void note(std::string_view) override {}
};

class TerminalProgress final : public Progress {
 public:
  TerminalProgress() : interactive_(::isatty(STDERR_FILENO) != 0) {}
  ~TerminalProgress() override { clear(); }
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void start(std::string_view label, std::uint64_t total, Unit unit) override {
    clear();
    label_ = label;
    total_ = total;
    unit_ = unit;
    done_ = 0;
    started_ = Clock::now();
    printed_ = started_;
    announced_ = false;
  }

  void update(std::uint64_t done) override {
    done_ = done;
    const auto now = Clock::now();
    const auto interval = interactive_ ? std::chrono::milliseconds(100) : std::chrono::seconds(5);
    if (now - printed_ < interval) {
      return;
    }
    printed_ = now;
    print(interactive_);
  }

  void finish() override {
    if (interactive_ ? shown_ : announced_) {
      clear();
      const double seconds = elapsed();
      fmt::print(stderr, "{}: {} {}in {}\n", label_, format_amount(done_, unit_), unit_name(),
                 format_duration(seconds));
    }
    clear();
  }

  void note(std::string_view line) override {
    clear();
    fmt::print(stderr, "{}\n", line);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

  const char* unit_name() const { return unit_ == Unit::kTokens ? "tokens " : ""; }

  void print(bool as_bar) {
    const double seconds = elapsed();
    const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
    const std::string rate_text =
        unit_ == Unit::kBytes
            ? format_bytes(static_cast<std::uint64_t>(rate)) + "/s"
            : fmt::format("{:.1f} {}/s", rate, unit_ == Unit::kTokens ? "tokens" : "items");
    std::string text = fmt::format("{}: {}", label_, format_amount(done_, unit_));
    if (total_ > 0) {
      text += " of " + format_amount(total_, unit_);
    }
    text += "  " + rate_text;
    const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : 0;
    // A rate taken from the first few bytes foretells nothing.
    constexpr double kLongestForecast = 100 * 3600.0;
    if (total_ > done_ && left > 0 && left < kLongestForecast) {
      text += "  " + format_duration(left) + " left";
    }
    if (!as_bar) {
      fmt::print(stderr, "{}\n", text);
      announced_ = true;
      return;
    }
    const std::size_t columns = width();
    if (total_ > 0 && text.size() + 14 < columns) {
      const std::size_t cells = std::min<std::size_t>(30, columns - text.size() - 4);
      const auto full = static_cast<std::size_t>(
          static_cast<double>(cells) *
          std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_)));
      text += "  " + std::string(full, '=') + std::string(cells - full, '.');
    }
    fmt::print(stderr, "\r\x1b[K{}", text.substr(0, columns - 1));
    std::fflush(stderr);
    shown_ = true;
  }

  static std::size_t width() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) {
      return size.ws_col;
    }
    return 80;
  }

  void clear() {
    if (shown_) {
      fmt::print(stderr, "\r\x1b[K");
      std::fflush(stderr);
      shown_ = false;
    }
  }

  bool interactive_;
  bool shown_ = false;      // a bar stands on the current line
  bool announced_ = false;  // a plain line of this step has been printed
  std::string label_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  Unit unit_ = Unit::kItems;
  Clock::time_point started_;
  Clock::time_point printed_;
};

}  // namespace

std::unique_ptr<Progress> make_terminal_progress() { return std::make_unique<TerminalProgress>(); }
std::unique_ptr<Progress> make_silent_progress() { return std::make_unique<SilentProgress>(); }

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1000) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    if (value < 999.95) {
      break;
    }
    value /= 1000;
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string format_duration(double seconds) {
  if (seconds < 9.95) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  if (whole < 3600) {
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace drift
