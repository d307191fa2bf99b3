#pragma once

#include <stdexcept>
#include <string>

namespace drift {

/// Exit status of the program, as its users' scripts see it.
enum class Status : int {
  kDone = 0,
  kGate = 1,           ///< a gate (`--fail-on`) tripped
  kUsage = 2,          ///< bad usage, bad file, refused comparison, unwritable output
  kTrouble = 3,        ///< fetch, hash, disk, compiler or runner trouble
  kBisectSkip = 125,   ///< of --bisect-run: what can't run is to be skipped
  kBisectStop = 129,   ///< of --bisect-run: bad usage, git bisect is to stop
  kInterrupted = 130,  ///< SIGINT
  kTerminated = 143,   ///< SIGTERM
};

/// The one type of error that leaves a function of this project.
///
/// `what()` says where and what is wrong in one lower-case line, naming the file and the place in
/// it; `hint()` says what to do, and may be empty. Only main prints them.
class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& what, std::string hint = "")
      : std::runtime_error(what), status_(status), hint_(std::move(hint)) {}

  Status status() const { return status_; }
  const std::string& hint() const { return hint_; }
  /// A signal ended the work: nothing failed.
  bool is_interruption() const {
    return status_ == Status::kInterrupted || status_ == Status::kTerminated;
  }

 private:
  Status status_;
  std::string hint_;
};

/// The person's input is at fault: a bad option, a bad file, an output that can't be written.
inline Error usage_error(const std::string& what, std::string hint = "") {
  return {Status::kUsage, what, std::move(hint)};
}

/// The world is at fault: network, disk, compiler, a runner.
inline Error trouble(const std::string& what, std::string hint = "") {
  return {Status::kTrouble, what, std::move(hint)};
}

}  // namespace drift
