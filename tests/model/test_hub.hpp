#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driftaudit/hub.hpp"
#include "driftaudit/process.hpp"

#include "model/test_data.hpp"

namespace drift::test {

/// A hub on the loopback with a folder of files, and a cache of the test's own: whatever the test
/// does in its life meets neither the network nor the person's caches.
class TestHub {
 public:
  explicit TestHub(const fs::path& python3);

  /// What the hub offers under the model's repository and revision.
  void offer(const HubModel& model, const std::string& name, const std::string& bytes);
  /// See hub_server.py.
  void behave(const std::string& json);
  /// The requests so far, as "GET model.safetensors bytes=100-", names without their folders.
  std::vector<std::string> requests() const;
  void stop() { server_->kill(); }

  fs::path cache() const { return folder_.path() / "cache"; }
  fs::path hugging_face_home() const { return folder_.path() / "hugging-face"; }

 private:
  TemporaryFolder folder_ = scratch_folder();
  std::unique_ptr<ChildProcess> server_;
  ScopedEnvironment environment_;
};

/// The entry of a HubModel for a file with these bytes.
HubFile hub_file(const std::string& name, const std::string& bytes);

}  // namespace drift::test
