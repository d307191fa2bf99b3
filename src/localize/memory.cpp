#include <algorithm>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/localize.hpp"
#include "driftaudit/progress.hpp"

namespace drift {
namespace {

std::uint64_t operand_bytes(const wire::Operand& operand) {
  return operand.weight ? 0 : operand.layout.extent() * wire::element_bytes(operand.layout.dtype);
}

}  // namespace

std::uint64_t replay_bytes(const wire::OperationRecord& operation) {
  // The worst moments of replay_pass(): A's record is held while its inputs are copied, put into a
  // frame and queued; later B's record arrives (its frame, then itself) beside A's and both
  // results; last come the elements that are compared.
  std::uint64_t inputs = 0;
  for (const wire::Operand& input : operation.inputs) {
    inputs += operand_bytes(input);
  }
  const std::uint64_t output = operand_bytes(operation.output);
  return 5 * (inputs + output) + output;
}

void check_memory(const std::vector<wire::OperationRecord>& operations, std::uint64_t budget) {
  const auto largest = std::max_element(
      operations.begin(), operations.end(),
      [](const auto& x, const auto& y) { return replay_bytes(x) < replay_bytes(y); });
  if (largest != operations.end() && replay_bytes(*largest) > budget) {
    throw usage_error(
        fmt::format("--memory: {} needs {} for its tensors, more than {}", largest->name,
                    format_bytes(replay_bytes(*largest)), format_bytes(budget)),
        "give it more, or localize a shorter prompt");
  }
}

}  // namespace drift
