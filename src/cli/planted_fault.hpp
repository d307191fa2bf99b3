#pragma once

#include <string>

namespace drift {

/// The fault that a test plants in one of several runs: in DRIFTAUDIT_TEST_FAULT "NAME:FAULT",
/// several separated by '|'. Empty: none, as in all real use.
std::string planted_fault(const std::string& name);

}  // namespace drift
