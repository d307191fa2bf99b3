#pragma once

// What the driver and a runner say to each other of single operations: see wire.hpp for when. Needs
// the standard library alone; valid C++17 and C++20.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor_data.hpp"
#include "wire_codec.hpp"

namespace drift::wire {

/// Which operations of a forward pass are told of. A selector is an operation's name
/// ("block.3.attn.softmax") or a beginning and an asterisk ("block.3.*", "*").
struct Trace {
  std::vector<std::uint32_t> steps;    ///< in which, from 1; empty: no trace
  std::vector<std::string> digests;    ///< selectors: recorded, without elements
  std::vector<std::string> data;       ///< selectors: recorded with all elements but the weights'
  std::vector<std::string> questions;  ///< selectors: asked about
};

/// An input or the output of an operation within a forward pass.
struct Operand {
  TensorLayout layout;
  /// Lies in the weights file: the same on every side, so neither digested nor sent.
  bool weight = false;
  /// murmur64a() over the elements in row-major order, whatever the strides.
  std::uint64_t digest = 0;
  std::optional<std::string> bytes;  ///< as TensorData::bytes, where the trace asks for them
};

/// One operation of a traced step.
struct OperationRecord {
  std::uint32_t task = 0;
  std::uint32_t step = 0;
  std::uint32_t index = 0;  ///< place in the order of execution of this forward pass, from 0
  std::string name;
  std::vector<Operand> inputs;
  Operand output;
};

/// The pass stands before this operation; `inputs` are its own, without elements.
struct Question {
  std::uint32_t task = 0;
  std::uint32_t step = 0;
  std::uint32_t index = 0;
  std::string name;
  std::vector<Operand> inputs;
};

/// Inputs to apply an operation to. One that is missing stands for the pass's own input at that
/// place (a weight, mostly); a standalone operation has none of its own.
struct Call {
  bool end = false;  ///< no inputs: the last Call to this Question or of this task
  std::vector<std::optional<TensorData>> inputs;
};

struct Result {
  std::uint32_t task = 0;
  std::uint32_t call = 0;  ///< from 1, anew for each Question
  TensorData output;
};

inline void put(Writer& w, const Trace& t) {
  w.numbers(t.steps);
  put(w, t.digests);
  put(w, t.data);
  put(w, t.questions);
}

inline void get(Reader& r, Trace& t) {
  t.steps = r.numbers<std::uint32_t>();
  get(r, t.digests);
  get(r, t.data);
  get(r, t.questions);
}

inline void put(Writer& w, const Operand& o) {
  put(w, o.layout);
  w.number(o.weight);
  w.number(o.digest);
  put(w, o.bytes);
}

inline void get(Reader& r, Operand& o) {
  get(r, o.layout);
  o.weight = r.number<std::uint8_t>() != 0;
  o.digest = r.number<std::uint64_t>();
  get(r, o.bytes);
  if (o.bytes) {
    check_bytes(o.layout, *o.bytes);
  }
}

inline void put(Writer& w, const OperationRecord& o) {
  w.number(o.task);
  w.number(o.step);
  w.number(o.index);
  w.text(o.name);
  put(w, o.inputs);
  put(w, o.output);
}

inline void get(Reader& r, OperationRecord& o) {
  o.task = r.number<std::uint32_t>();
  o.step = r.number<std::uint32_t>();
  o.index = r.number<std::uint32_t>();
  o.name = r.text();
  get(r, o.inputs);
  get(r, o.output);
}

inline void put(Writer& w, const Question& q) {
  w.number(q.task);
  w.number(q.step);
  w.number(q.index);
  w.text(q.name);
  put(w, q.inputs);
}

inline void get(Reader& r, Question& q) {
  q.task = r.number<std::uint32_t>();
  q.step = r.number<std::uint32_t>();
  q.index = r.number<std::uint32_t>();
  q.name = r.text();
  get(r, q.inputs);
}

inline void put(Writer& w, const Call& c) {
  w.number(c.end);
  put(w, c.inputs);
}

inline void get(Reader& r, Call& c) {
  c.end = r.number<std::uint8_t>() != 0;
  get(r, c.inputs);
}

inline void put(Writer& w, const Result& x) {
  w.number(x.task);
  w.number(x.call);
  put(w, x.output);
}

inline void get(Reader& r, Result& x) {
  x.task = r.number<std::uint32_t>();
  x.call = r.number<std::uint32_t>();
  get(r, x.output);
}

}  // namespace drift::wire
