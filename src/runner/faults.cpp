#include "faults.hpp"

#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace drift::runner {
namespace {

constexpr std::array<std::pair<const char*, Fault::Kind>, 19> kFaultKinds = {{
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
    {"overwrite", Fault::Kind::kOverwrite},
    {"mask", Fault::Kind::kMask},
    {"stale", Fault::Kind::kStale},
    {"position", Fault::Kind::kPosition},
    {"wrap", Fault::Kind::kWrap},
    {"prefill", Fault::Kind::kPrefill},
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

/// At least 1.
std::uint32_t fault_count(const std::string& digits, const std::string& fault) {
  const std::uint32_t count = fault_number(digits, fault);
  if (count == 0) {
    refuse(fault);
  }
  return count;
}

void set_kind(const std::string& name, const std::string& text, Fault& fault) {
  for (const auto& [kind_name, kind] : kFaultKinds) {
    if (name == kind_name) {
      fault.kind = kind;
      return;
    }
  }
  refuse(text);
}

void set_condition(const std::string& key, const std::string& value, const std::string& text,
                   Fault& fault) {
  if (key == "step") {
    fault.step = fault_number(value, text);
  } else if (key == "from") {
    fault.from = fault_number(value, text);
  } else if (key == "to") {
    fault.to = fault_number(value, text);
  } else if (key == "task") {
    fault.task = fault_number(value, text);
  } else if (key == "every") {
    fault.every = fault_count(value, text);
  } else if (key == "op" && !value.empty()) {
    fault.operation = value;
  } else if (key == "row") {
    fault.row = fault_number(value, text);
  } else if (key == "at" && fault.kind == Fault::Kind::kOverwrite) {
    fault.at = fault_number(value, text);
  } else if (key == "size" && fault.kind >= Fault::Kind::kPosition) {
    fault.size = fault_count(value, text);
  } else {
    refuse(text);
  }
}

Fault parse_fault(const std::string& text) {
  Fault fault;
  const auto at = text.find('@');
  set_kind(text.substr(0, at), text, fault);
  if (at != std::string::npos && at + 1 == text.size()) {
    refuse(text);
  }
  if (fault.in_cache()) {
    fault.from = 2;
  }
  std::istringstream conditions(at == std::string::npos ? "" : text.substr(at + 1));
  std::string condition;
  while (std::getline(conditions, condition, ',')) {
    const auto equals = condition.find('=');
    set_condition(condition.substr(0, equals),
                  equals == std::string::npos ? "" : condition.substr(equals + 1), text, fault);
  }
  const bool needs_size = fault.kind == Fault::Kind::kWrap || fault.kind == Fault::Kind::kPrefill;
  if (fault.in_values() == fault.operation.empty() || (fault.row > 0 && !fault.in_values()) ||
      (needs_size && fault.size == 0)) {
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
