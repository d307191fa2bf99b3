#pragma once

#include <string>

#include "runner/wire_codec.hpp"

namespace drift::wire {

/// What a frame of the value carries.
template <class T>
std::string payload_of(const T& value) {
  Writer writer;
  put(writer, value);
  return writer.bytes();
}

}  // namespace drift::wire
