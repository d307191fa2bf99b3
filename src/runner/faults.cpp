#include "faults.hpp"

#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace drift::runner {
namespace {

constexpr std::array<std::pair<const char*, Fault::Kind>, 13> kFaultKinds = {{
    {"exit", Fault::Kind::kExit},
    {"hang", Fault::Kind::kHang},
    {"kill", Fault::Kind::kKill},
    {"fail", Fault::Kind::kFail},
    {"garbage", Fault::Kind::kGarbage},
    {"text", Fault::Kind::kText},
    {"nan", Fault::Kind::kNan},
    {"bits", Fault::Kind::kBits},
    {"noise", Fault::Kind::kNoise},
    {"draw", Fault::Kind::kDraw},
    {"second", Fault::Kind::kSecond},
    {"swap", Fault::Kind::kSwap},
    {"swap-frames", Fault::Kind::kSwapFrames},
}};

[[noreturn]] void refuse(const std::string& text) {
  throw std::runtime_error("no such fault: \"" + text + "\"");
}

std::uint32_t fault_number(const std::string& digits, const std::string& fault) {
  if (digits.empty() || digits.size() > 9 ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    refuse(fault);
  }
  return static_cast<std::uint32_t>(std::stoul(digits));
}

Fault parse_fault(const std::string& text) {
  Fault fault;
  const auto at = text.find('@');
  const std::string name = text.substr(0, at);
  bool known = false;
  for (const auto& [kind_name, kind] : kFaultKinds) {
    if (name == kind_name) {
      fault.kind = kind;
      known = true;
    }
  }
  if (!known || (at != std::string::npos && at + 1 == text.size())) {
    refuse(text);
  }
  std::istringstream conditions(at == std::string::npos ? "" : text.substr(at + 1));
  std::string condition;
  while (std::getline(conditions, condition, ',')) {
    const auto equals = condition.find('=');
    const std::string key = condition.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : condition.substr(equals + 1);
    if (key == "step") {
      fault.step = fault_number(value, text);
    } else if (key == "task") {
      fault.task = fault_number(value, text);
    } else if (key == "op" && !value.empty()) {
      fault.operation = value;
    } else if (key == "row") {
      fault.row = fault_number(value, text);
    } else {
      refuse(text);
    }
  }
  if (fault.in_values() == fault.operation.empty() || (fault.row > 0 && !fault.in_values())) {
    refuse(text);
  }
  return fault;
}

}  // namespace

std::vector<Fault> parse_faults(const std::string& text) {
  std::vector<Fault> faults;
  std::istringstream parts(text);
  std::string part;
  while (std::getline(parts, part, ';')) {
    faults.push_back(parse_fault(part));
  }
  return faults;
}

}  // namespace drift::runner
