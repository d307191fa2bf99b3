#include "driftaudit/process.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"

extern "C" char** environ;

namespace drift {
namespace {

/// Both ends of a pipe; what is not taken is closed.
struct Pipe {
  std::array<int, 2> ends = {-1, -1};

  Pipe() = default;
  ~Pipe() {
    for (const int fd : ends) {
      if (fd >= 0) {
        ::close(fd);
      }
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void open() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw trouble(fmt::format("no pipe for a child process: {}", std::strerror(errno)));
    }
  }
  int take(std::size_t end) { return std::exchange(ends[end], -1); }
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& string : strings) {
    result.push_back(const_cast<char*>(string.c_str()));
  }
  result.push_back(nullptr);
  return result;
}

/// The folders of a PATH that are absolute.
std::vector<std::string> absolute_folders(const std::string& path) {
  std::vector<std::string> folders;
  std::istringstream entries(path);
  for (std::string folder; std::getline(entries, folder, ':');) {
    if (folder.starts_with('/')) {
      folders.push_back(folder);
    }
  }
  return folders;
}

/// What relative paths in variables mean hangs on the folder: those of PATH are dropped, TMPDIR
/// stays where it is.
std::map<std::string, std::string> for_own_folder(std::map<std::string, std::string> environment) {
  if (const auto path = environment.find("PATH"); path != environment.end()) {
    path->second = fmt::format("{}", fmt::join(absolute_folders(path->second), ":"));
  }
  if (const auto folder = environment.find("TMPDIR");
      folder != environment.end() && !folder->second.empty()) {
    folder->second = fs::absolute(folder->second).string();
  }
  return environment;
}

std::unique_ptr<TemporaryFolder> make_own_folder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    throw trouble(fmt::format("TMPDIR={}: no such folder", environment_value("TMPDIR")),
                  "unset TMPDIR, or set it to a folder");
  }
  return std::make_unique<TemporaryFolder>(fs::absolute(parent), "driftaudit");
}

/// Between fork and exec: only async-signal-safe calls. Leaves errno in `report` on failure.
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment,
                         const char* folder, std::array<int, 3> streams, int report, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(127);
  }
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) {
    ::signal(number, SIG_DFL);
  }
  for (int fd = 0; fd < 3; ++fd) {
    if (streams[static_cast<std::size_t>(fd)] >= 0 &&
        ::dup2(streams[static_cast<std::size_t>(fd)], fd) < 0) {
      break;
    }
  }
  if (::chdir(folder) == 0) {
    ::execve(program, arguments, environment);
  }
  const int error_number = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(report, &error_number, sizeof error_number);
  ::_exit(127);
}

/// Of what waitpid() gave.
ProcessEnd end_of(int status) {
  return WIFSIGNALED(status) ? ProcessEnd{0, WTERMSIG(status)} : ProcessEnd{WEXITSTATUS(status), 0};
}

/// throw_if_interrupted(), but the child ends first.
void end_if_interrupted(ChildProcess& child) {
  try {
    throw_if_interrupted();
  } catch (const Error&) {
    child.terminate(std::chrono::seconds(5));
    throw;
  }
}

}  // namespace

std::string ProcessEnd::describe() const {
  if (signal != 0) {
    return fmt::format("signal {} ({})", signal, ::strsignal(signal));
  }
  return fmt::format("exit status {}", exit_code);
}

ChildProcess::ChildProcess(const Command& command, Streams streams) {
  std::vector<std::string> words = command.arguments;
  const std::string name = words.at(0);
  const bool is_path = name.find('/') != std::string::npos;
  const auto program = is_path ? fs::absolute(name) : find_program(name);
  if (!program) {
    throw trouble(fmt::format("{}: not found in PATH", name), fmt::format("install {}", name));
  }
  if (is_path) {
    words[0] = program->string();
  }
  auto variables = command.environment ? *command.environment : current_environment();
  if (command.working_folder.empty()) {
    folder_ = make_own_folder();
    variables = for_own_folder(std::move(variables));
  }
  std::vector<std::string> environment_strings;
  for (const auto& [key, value] : variables) {
    environment_strings.push_back(fmt::format("{}={}", key, value));
  }
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(environment_strings);
  const std::string folder = (folder_ ? folder_->path() : command.working_folder).string();

  Pipe in;
  Pipe out;
  Pipe err;
  Pipe report;
  report.open();
  std::array<int, 3> child_side = {-1, -1, -1};
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const auto connect = [&](Stream stream, Pipe& pipe, std::size_t child_end, int& slot) {
    if (stream == Stream::kNull) {
      slot = null;
    } else if (stream == Stream::kPipe) {
      pipe.open();
      slot = pipe.ends[child_end];
    }
  };
  connect(streams.in, in, 0, child_side[0]);
  connect(streams.out, out, 1, child_side[1]);
  connect(streams.err, err, 1, child_side[2]);

  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    become(program->c_str(), arguments.data(), environment.data(), folder.c_str(), child_side,
           report.ends[1], parent);
  }
  const int fork_error = errno;
  ::close(null);
  if (pid_ < 0) {
    throw trouble(fmt::format("{}: can't be started: {}", name, std::strerror(fork_error)));
  }
  ::setpgid(pid_, pid_);
  ::close(report.take(1));
  int child_error = 0;
  ssize_t n = 0;
  do {
    n = ::read(report.ends[0], &child_error, sizeof child_error);
  } while (n < 0 && errno == EINTR);
  if (n > 0) {
    wait();
    throw trouble(
        fmt::format("{}: can't be started: {}", program->string(), std::strerror(child_error)));
  }
  in_ = in.take(1);
  out_ = out.take(0);
  err_ = err.take(0);
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill();
  }
  close_in();
  for (const int fd : {out_, err_}) {
    if (fd >= 0) {
      ::close(fd);
    }
  }
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : folder_(std::move(other.folder_)),
      pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      end_(other.end_) {}

void ChildProcess::close_in() {
  if (in_ >= 0) {
    ::close(std::exchange(in_, -1));
  }
}

ProcessEnd ChildProcess::wait() {
  if (!end_) {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    end_ = end_of(status);
  }
  return *end_;
}

void ChildProcess::kill() {
  if (!end_) {
    ::kill(-pid_, SIGKILL);
    wait();
  }
}

void ChildProcess::terminate(std::chrono::milliseconds patience) {
  if (end_) {
    return;
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const auto group_is_empty = [this] {
    int status = 0;
    if (!end_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
      end_ = end_of(status);
    }
    return end_ && ::kill(-pid_, 0) != 0;
  };
  ::kill(-pid_, SIGTERM);
  while (!group_is_empty()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      ::kill(-pid_, SIGKILL);
      wait();
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

ProcessResult run_process(const Command& command,
                          const std::function<void(std::string_view)>& on_output,
                          const std::function<void()>& on_wait) {
  ChildProcess child(command, {ChildProcess::Stream::kNull, ChildProcess::Stream::kPipe,
                               ChildProcess::Stream::kPipe});
  ProcessResult result;
  std::array<pollfd, 3> polled = {
      {{child.out(), POLLIN, 0}, {child.err(), POLLIN, 0}, {interrupt_fd(), POLLIN, 0}}};
  std::array<std::string*, 2> kept = {&result.out, &result.err};
  std::array<char, 65536> buffer{};
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    const int ready = ::poll(polled.data(), polled.size(), on_wait ? 200 : -1);
    if (ready < 0 && errno != EINTR) {
      throw trouble(fmt::format("poll: {}", std::strerror(errno)));
    }
    end_if_interrupted(child);
    if (on_wait) {
      on_wait();
    }
    if (ready <= 0) {
      continue;
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) {
        continue;
      }
      const ssize_t n = ::read(polled[i].fd, buffer.data(), buffer.size());
      if (n > 0) {
        const std::string_view piece(buffer.data(), static_cast<std::size_t>(n));
        kept[i]->append(piece);
        if (on_output) {
          on_output(piece);
        }
      } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        polled[i].fd = -1;
      }
    }
  }
  result.end = child.wait();
  return result;
}

std::map<std::string, std::string> current_environment() {
  std::map<std::string, std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      result.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return result;
}

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<fs::path> find_program(std::string_view name) {
  for (const std::string& folder : absolute_folders(environment_value("PATH"))) {
    const fs::path candidate = fs::path(folder) / name;
    std::error_code unreadable;  // a folder in PATH that others may not enter
    if (fs::is_regular_file(candidate, unreadable) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return std::nullopt;
}

}  // namespace drift
