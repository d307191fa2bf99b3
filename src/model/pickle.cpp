#include "model/pickle.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/interrupt.hpp"

#include "model/pickle_input.hpp"
#include "model/pickle_stack.hpp"
#include "model/shown.hpp"

namespace drift::pickle {
namespace {

constexpr int kHighestProtocol = 5;

/// Opcodes that Python knows and state dicts have no use for, by their names in pickletools.
constexpr std::pair<unsigned char, const char*> kUnusedOpcodes[] = {
    {'0', "POP"},        {'1', "POP_MARK"},    {'2', "DUP"},          {'i', "INST"},
    {'o', "OBJ"},        {'P', "PERSID"},      {'B', "BINBYTES"},     {'C', "SHORT_BINBYTES"},
    {0x81, "NEWOBJ"},    {0x82, "EXT1"},       {0x83, "EXT2"},        {0x84, "EXT4"},
    {0x8e, "BINBYTES8"}, {0x8f, "EMPTY_SET"},  {0x90, "ADDITEMS"},    {0x91, "FROZENSET"},
    {0x92, "NEWOBJ_EX"}, {0x96, "BYTEARRAY8"}, {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"},
};

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, std::size_t begin, const std::string& where,
          Rules& rules)
      : input_(bytes, begin, where), rules_(rules) {}

  Result run() {
    for (std::uint64_t steps = 0;; ++steps) {
      if (steps % 65536 == 0) {
        throw_if_interrupted();
      }
      const unsigned char opcode = input_.opcode();
      if (opcode == '.') {
        const Ref root = stack_.pop();
        return {stack_.take_values(), root, input_.at()};
      }
      try {
        if (!number_opcode(opcode) && !text_opcode(opcode) && !container_opcode(opcode) &&
            !memo_opcode(opcode) && !call_opcode(opcode)) {
          refuse_opcode(opcode);
        }
      } catch (const Refusal& refusal) {
        input_.fail(
            "the pickle " + refusal.what,
            "only state dicts (names and tensors) are read; nothing in the file was run. Save "
            "that part alone: torch.save(checkpoint[\"state_dict\"], \"pytorch_model.bin\")");
      }
    }
  }

 private:
  [[noreturn]] void refuse_opcode(unsigned char opcode) const {
    for (const auto& [unused, name] : kUnusedOpcodes) {
      if (unused == opcode) {
        throw Refusal{fmt::format("uses {}, which no state dict needs", name)};
      }
    }
    input_.damaged(fmt::format("0x{:02x} is no opcode of a pickle", opcode));
  }

  void push_dict(std::vector<Ref> items) {
    if (items.size() % 2 != 0) {
      input_.damaged("a dict with a key that has no value");
    }
    stack_.push({Kind::kDict, 0, "", std::move(items)});
  }

  void push_int(std::int64_t value) { stack_.push({Kind::kInt, value, "", {}}); }
  void push_bool(bool value) { stack_.push({Kind::kBool, value ? 1 : 0, "", {}}); }

  /// A two's-complement integer of `size` bytes.
  void push_long(std::uint64_t size) {
    const std::string digits = input_.text(size);
    if (digits.size() > sizeof(std::int64_t)) {
      stack_.push({Kind::kBigInt, 0, digits, {}});
      return;
    }
    const bool negative =
        !digits.empty() && (static_cast<unsigned char>(digits.back()) & 0x80) != 0;
    std::int64_t value = negative ? -1 : 0;
    std::memcpy(&value, digits.data(), digits.size());
    push_int(value);
  }

  void push_decimal_long() {
    std::string digits = input_.line();
    if (!digits.empty() && digits.back() == 'L') {
      digits.pop_back();
    }
    constexpr std::size_t kSurelyFits = std::numeric_limits<std::int64_t>::digits10;
    if (digits.size() > kSurelyFits &&
        digits.find_first_not_of("-0123456789") == std::string::npos) {
      stack_.push({Kind::kBigInt, 0, digits, {}});
    } else {
      push_int(input_.parse_number(digits));
    }
  }

  // Opcodes, by group; each function says whether the opcode was one of its own.

  bool number_opcode(unsigned char opcode) {
    switch (opcode) {
      case 'N':
        stack_.push({});
        return true;
      case 0x88:
        push_bool(true);
        return true;
      case 0x89:
        push_bool(false);
        return true;
      case 'J':
        push_int(input_.number<std::int32_t>());
        return true;
      case 'K':
        push_int(input_.number<std::uint8_t>());
        return true;
      case 'M':
        push_int(input_.number<std::uint16_t>());
        return true;
      case 'L':
        push_decimal_long();
        return true;
      case 0x8a:
        push_long(input_.number<std::uint8_t>());
        return true;
      case 0x8b:
        push_long(input_.number<std::uint32_t>());
        return true;
      case 'G':
        input_.take(8);
        stack_.push({Kind::kFloat, 0, "", {}});
        return true;
      case 'F':
        input_.line();
        stack_.push({Kind::kFloat, 0, "", {}});
        return true;
      case 'I': {
        const std::string digits = input_.line();
        // Before protocol 2, True and False were written so.
        if (digits == "00" || digits == "01") {
          push_bool(digits == "01");
        } else {
          push_int(input_.parse_number(digits));
        }
        return true;
      }
      default:
        return false;
    }
  }

  bool text_opcode(unsigned char opcode) {
    switch (opcode) {
      case 'U':
      case 0x8c:
        stack_.push({Kind::kText, 0, input_.text(input_.number<std::uint8_t>()), {}});
        return true;
      case 'T':
      case 'X':
        stack_.push({Kind::kText, 0, input_.text(input_.number<std::uint32_t>()), {}});
        return true;
      case 0x8d:
        stack_.push({Kind::kText, 0, input_.text(input_.number<std::uint64_t>()), {}});
        return true;
      case 'V':
      case 'S': {
        std::string written = input_.line();
        if (opcode == 'S') {
          if (written.size() < 2 || written.front() != written.back()) {
            input_.damaged("a text without its quotes");
          }
          written = written.substr(1, written.size() - 2);
        }
        if (written.find('\\') != std::string::npos) {
          throw Refusal{"holds a text with escapes, which no state dict needs"};
        }
        stack_.push({Kind::kText, 0, std::move(written), {}});
        return true;
      }
      default:
        return false;
    }
  }

  bool container_opcode(unsigned char opcode) {
    switch (opcode) {
      case '(':
        stack_.open_mark();
        return true;
      case ')':
        stack_.push({Kind::kTuple, 0, "", {}});
        return true;
      case 't':
        stack_.push({Kind::kTuple, 0, "", stack_.pop_to_mark()});
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        stack_.push({Kind::kTuple, 0, "", stack_.pop_items(opcode - std::size_t{0x84})});
        return true;
      case ']':
        stack_.push({Kind::kList, 0, "", {}});
        return true;
      case 'l':
        stack_.push({Kind::kList, 0, "", stack_.pop_to_mark()});
        return true;
      case 'a':
        stack_.add_items(Kind::kList, stack_.pop_items(1));
        return true;
      case 'e':
        stack_.add_items(Kind::kList, stack_.pop_to_mark());
        return true;
      case '}':
        stack_.push({Kind::kDict, 0, "", {}});
        return true;
      case 'd':
        push_dict(stack_.pop_to_mark());
        return true;
      case 's':
        stack_.add_items(Kind::kDict, stack_.pop_items(2));
        return true;
      case 'u':
        stack_.add_items(Kind::kDict, stack_.pop_to_mark());
        return true;
      default:
        return false;
    }
  }

  std::uint64_t line_slot() {
    const std::int64_t slot = input_.line_number();
    if (slot < 0) {
      input_.damaged("a negative place in the memo");
    }
    return static_cast<std::uint64_t>(slot);
  }

  bool memo_opcode(unsigned char opcode) {
    switch (opcode) {
      case 'g':
        stack_.recall(line_slot());
        return true;
      case 'h':
        stack_.recall(input_.number<std::uint8_t>());
        return true;
      case 'j':
        stack_.recall(input_.number<std::uint32_t>());
        return true;
      case 'p':
        stack_.remember(line_slot());
        return true;
      case 'q':
        stack_.remember(input_.number<std::uint8_t>());
        return true;
      case 'r':
        stack_.remember(input_.number<std::uint32_t>());
        return true;
      case 0x94:
        stack_.remember(stack_.remembered());
        return true;
      default:
        return false;
    }
  }

  void push_global(const std::string& module, const std::string& name) {
    const std::string full = module + "." + name;
    const auto known = rules_.global(full);
    if (!known) {
      throw Refusal{fmt::format("asks for \"{}\", which is no part of a state dict", shown(full))};
    }
    stack_.push({Kind::kGlobal, *known, "", {}});
  }

  void stack_global() {
    const Value& name = stack_.value(stack_.pop());
    const Value& module = stack_.value(stack_.pop());
    if (name.kind != Kind::kText || module.kind != Kind::kText) {
      input_.damaged("asks for a global whose name is no text");
    }
    push_global(module.text, name.text);
  }

  void reduce() {
    const Value& arguments = stack_.value(stack_.pop());
    const Value& callable = stack_.value(stack_.pop());
    if (callable.kind != Kind::kGlobal || arguments.kind != Kind::kTuple) {
      throw Refusal{"calls what can't be called"};
    }
    stack_.push(rules_.call(callable.number, arguments, stack_.values()));
  }

  /// The only state that a state dict carries is an OrderedDict's `_metadata`: of no use here.
  void build() {
    stack_.pop();
    if (stack_.top().kind != Kind::kDict) {
      throw Refusal{"gives a state to what isn't a dict"};
    }
  }

  bool call_opcode(unsigned char opcode) {
    switch (opcode) {
      case 'c': {
        const std::string module = input_.line();
        push_global(module, input_.line());
        return true;
      }
      case 0x93:
        stack_global();
        return true;
      case 'R':
        reduce();
        return true;
      case 'b':
        build();
        return true;
      case 'Q': {
        const Value& id = stack_.value(stack_.pop());
        stack_.push(rules_.persistent(id, stack_.values()));
        return true;
      }
      case 0x80: {
        const auto protocol = input_.number<std::uint8_t>();
        if (protocol > kHighestProtocol) {
          input_.damaged(fmt::format("pickle protocol {} is not known here", protocol));
        }
        return true;
      }
      case 0x95:
        input_.number<std::uint64_t>();
        return true;  // a frame's length: its opcodes follow
      default:
        return false;
    }
  }

  Input input_;
  Stack stack_{input_};
  Rules& rules_;
};

}  // namespace

std::optional<std::int64_t> Rules::global(std::string_view /*name*/) { return std::nullopt; }

Value Rules::call(std::int64_t /*global*/, const Value& /*arguments*/, const Values& /*values*/) {
  throw Refusal{"calls something where only plain values may be"};
}

Value Rules::persistent(const Value& /*id*/, const Values& /*values*/) {
  throw Refusal{"names a storage where only plain values may be"};
}

Result unpickle(std::span<const std::byte> bytes, std::size_t begin, const std::string& where,
                Rules& rules) {
  return Machine(bytes, begin, where, rules).run();
}

}  // namespace drift::pickle
