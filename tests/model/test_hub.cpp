#include "model/test_hub.hpp"

#include <sstream>
#include <stdexcept>
#include <unistd.h>

#include "driftaudit/hash.hpp"
#include "driftaudit/paths.hpp"

namespace drift::test {

TestHub::TestHub(const fs::path& python3) {
  using Stream = ChildProcess::Stream;
  fs::create_directories(folder_.path() / "files");
  const fs::path script = source_folder() / "tests/model/hub_server.py";
  server_ = std::make_unique<ChildProcess>(
      Command{{python3.string(), script.string(), folder_.path().string()}, std::nullopt, {}},
      ChildProcess::Streams{Stream::kNull, Stream::kPipe, Stream::kInherit});
  std::string port;
  char digit = 0;
  while (::read(server_->out(), &digit, 1) == 1 && digit != '\n') {
    port.push_back(digit);
  }
  if (port.empty()) {
    throw std::runtime_error("hub_server.py doesn't start");
  }
  environment_.set("HF_ENDPOINT", "http://127.0.0.1:" + port + "/");
  environment_.set("HF_HOME", hugging_face_home().string());
  environment_.set("HF_HUB_CACHE", "");
  environment_.set("HF_HUB_OFFLINE", "");
  make_folders(cache());
  write_file(cache() / kCacheMark, "");  // tests put files into it before the program does
  environment_.set("DRIFTAUDIT_CACHE", cache().string());
  environment_.set("no_proxy", "127.0.0.1");
}

void TestHub::offer(const HubModel& model, const std::string& name, const std::string& bytes) {
  const fs::path folder = folder_.path() / "files" / model.repository / "resolve" / model.revision;
  fs::create_directories(folder);
  write_file(folder / name, bytes);
}

void TestHub::behave(const std::string& json) {
  write_file(folder_.path() / "behaviour.json", json);
}

std::vector<std::string> TestHub::requests() const {
  std::vector<std::string> result;
  if (!fs::exists(folder_.path() / "log")) {
    return result;
  }
  std::istringstream log(read_file(folder_.path() / "log"));
  std::string method;
  std::string path;
  std::string range;
  while (log >> method >> path >> range) {
    result.push_back(method + " " + fs::path(path).filename().string() + " " + range);
  }
  return result;
}

HubFile hub_file(const std::string& name, const std::string& bytes) {
  return {name, bytes.size(), sha256_hex(bytes)};
}

}  // namespace drift::test
