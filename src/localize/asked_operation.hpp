#pragma once

#include <string>

#include "driftaudit/isolation.hpp"
#include "driftaudit/replay.hpp"

namespace drift {

/// A model's own operation under one side: a runner that stands before it in a forward pass, and
/// answers what it gives on any inputs.
class AskedOperation final : public AskedKernel {
 public:
  /// Starts the runner on a pass over the single token `token`.
  AskedOperation(const ReplaySide& side, std::int32_t token, const std::string& operation);

  void call(std::vector<wire::TensorData> inputs) override;
  wire::TensorData result() override;

 private:
  std::string label_;
  RunnerProcess process_;
};

}  // namespace drift
