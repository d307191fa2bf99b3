#pragma once

#include <map>
#include <string>

#include "driftaudit/operation_kernels.hpp"

namespace drift {

/// A build whose operations are known kernels. What it lacks it refuses when called, as a runner
/// does.
class FakeOperations {
 public:
  void add_rows(const std::string& name, RowKernel kernel);
  void add(const std::string& name, OperationCall call) { calls_[name] = std::move(call); }
  FindOperation find() const;
  /// How often an operation was called.
  std::size_t calls_of(const std::string& name) const { return counts_[name]; }

 private:
  std::map<std::string, OperationCall> calls_;
  mutable std::map<std::string, std::size_t> counts_;
};

}  // namespace drift
