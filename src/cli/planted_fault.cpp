#include "cli/planted_fault.hpp"

#include "driftaudit/process.hpp"

namespace drift {

std::string planted_fault(const std::string& name) {
  const std::string faults = "|" + environment_value("DRIFTAUDIT_TEST_FAULT") + "|";
  const std::size_t at = faults.find("|" + name + ":");
  if (at == std::string::npos) {
    return "";
  }
  const std::size_t begin = at + name.size() + 2;
  return faults.substr(begin, faults.find('|', begin) - begin);
}

}  // namespace drift
