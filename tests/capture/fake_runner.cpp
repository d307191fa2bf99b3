// Speaks the runner's protocol without a libtorch, and misspeaks it as the variable FAKE says.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "runner/wire.hpp"

namespace {

namespace wire = drift::wire;

void put(const std::string& bytes) {
  std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::cout.flush();
}

std::string opening(std::uint32_t protocol) {
  wire::Writer head;
  head.number(protocol);
  return std::string(wire::kMagic, sizeof wire::kMagic) + head.bytes();
}

std::string head_of(std::uint32_t kind, std::uint64_t size) {
  wire::Writer head;
  head.number(kind);
  head.number(size);
  return head.bytes();
}

std::string payload() {
  std::uint64_t size = 0;
  std::cin.ignore(sizeof(wire::FrameKind));
  std::cin.read(reinterpret_cast<char*>(&size), sizeof size);
  std::string bytes(size, '\0');
  std::cin.read(bytes.data(), static_cast<std::streamsize>(size));
  return bytes;
}

wire::Job read_job() {
  std::cin.ignore(sizeof wire::kMagic + sizeof wire::kProtocol);
  return wire::parse<wire::Job>(payload());
}

/// Whatever ends before the first step.
void misspeak(const std::string& fake) {
  const std::string step = wire::frame(wire::FrameKind::kStep, wire::Step{1, 1, 0, {}, {}, {1, 2}});
  if (fake == "cut") {
    put(step.substr(0, step.size() - 3));
    std::exit(0);
  } else if (fake == "another task") {
    put(step);
  } else if (fake == "huge") {
    put(head_of(2, std::uint64_t{1} << 60));
  } else if (fake == "unknown") {
    put(head_of(77, 0));
  } else if (fake == "lying") {
    put(head_of(2, 5) + "abcde");
  } else if (fake == "killed") {
    std::raise(SIGKILL);
  } else if (fake == "illegal") {
    std::raise(SIGILL);
  } else if (fake == "ended") {
    std::cerr << "first line\nlibfoo.so.1: cannot open shared object file\n";
    std::exit(127);
  } else if (fake == "failure") {
    put(wire::frame(wire::FrameKind::kFailure, wire::Failure{"weights.bin: no such\nfile"}));
    std::exit(1);
  } else if (fake == "hung") {
    std::cerr << "about to hang\n";
    ::pause();
  } else if (fake == "closed") {
    ::close(STDOUT_FILENO);
    ::sleep(100);
  } else if (fake == "chatty") {
    std::cerr << std::string(1 << 20, 'x') << "the end of it\n";
    std::exit(1);
  }
}

wire::Call read_call() { return wire::parse<wire::Call>(payload()); }

/// Echoes each call's first input, for as long as there are any.
void answer_calls(const wire::Task& task) {
  std::uint32_t n = 0;
  for (wire::Call call = read_call(); !call.end; call = read_call()) {
    put(wire::frame(wire::FrameKind::kResult,
                    wire::Result{task.id, ++n, call.inputs.at(0).value()}));
  }
}

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// An operation whose output is its input, the number of the step; beside it a weight.
wire::OperationRecord identity(const wire::Task& task, std::uint32_t step, std::uint32_t index,
                               const std::string& name) {
  const auto value = static_cast<float>(step);
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  const wire::Operand number{{}, false, step, bytes};
  return {task.id, step, index, name, {number, {{}, true, 0, std::nullopt}}, number};
}

/// The operations that are named in `questions` or `data`, in order; a runner that is "astray"
/// calls them something else.
void tell_of_operations(const wire::Task& task, std::uint32_t step, const std::string& fake) {
  const auto& steps = task.trace.steps;
  if (std::find(steps.begin(), steps.end(), step) == steps.end()) {
    return;
  }
  std::uint32_t index = 0;
  for (std::string name : {"first", "second"}) {
    const bool asks = among(task.trace.questions, name);
    const bool records = among(task.trace.data, name);
    name += fake == "astray" ? "'" : "";
    const wire::OperationRecord record = identity(task, step, index++, name);
    if (asks) {
      put(wire::frame(wire::FrameKind::kQuestion,
                      wire::Question{record.task, step, record.index, name, record.inputs}));
      answer_calls(task);
    }
    if (records) {
      put(wire::frame(wire::FrameKind::kOperation, record));
    }
  }
}

/// Steps whose token and only logits are the last id, or what was fed.
void run(const wire::Task& task, const std::string& fake) {
  std::int32_t token = task.ids.back();
  for (std::uint32_t n = 1; n <= task.new_tokens && token >= 0; ++n) {
    const auto logit = static_cast<float>(token);
    tell_of_operations(task, n, fake);
    put(wire::frame(wire::FrameKind::kStep,
                    wire::Step{task.id, n, token, {}, {}, std::vector<float>(100000, logit)}));
    if (task.fed) {
      token = wire::parse<wire::FedToken>(payload()).token;
    }
  }
  put(wire::frame(wire::FrameKind::kTaskEnd, wire::TaskEnd{task.id, wire::Stopped::kLength, 0.5}));
}

}  // namespace

int main() {
  const char* variable = std::getenv("FAKE");
  const std::string fake = variable == nullptr ? "" : variable;
  if (fake == "noise") {
    put("MOTD\n\x89"
        "DRIFT but not yet\n");
  } else if (fake == "too much noise") {
    put(std::string(wire::kMaxPreamble + 100, 'x'));
  } else if (fake == "silent end") {
    put("docker: no such image\n");
    return 1;
  }
  put(opening(fake == "protocol" ? 99 : wire::kProtocol));
  const wire::Job job = read_job();
  put(wire::frame(wire::FrameKind::kHello, wire::Hello{"9.9.9", job.weights, "", job.threads, 7}));
  misspeak(fake);
  for (const wire::Task& task : job.tasks) {
    if (task.mode == wire::Mode::kOperation) {
      answer_calls(task);
      put(wire::frame(wire::FrameKind::kTaskEnd, wire::TaskEnd{task.id, wire::Stopped::kFed, 0.5}));
    } else {
      run(task, fake);
    }
  }
  put(wire::frame(wire::FrameKind::kDone, wire::Done{4096}));
  return 0;
}
