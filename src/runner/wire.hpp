#pragma once

// What the driver and a runner say to each other. With tensor_data.hpp and wire_codec.hpp the one
// source that both are compiled from: it needs the standard library alone and is valid C++17 and
// C++20.
//
// A stream is: text that something printed before the runner took hold of fd 1 (skipped, up to
// kMaxPreamble bytes), the magic, the protocol version as u32, then frames. A frame is its kind as
// u32, the payload's length as u64, the payload (wire_codec.hpp). Both directions use the same
// form.
//
// The driver opens with a Job. The runner answers Hello, works on the tasks in order, each ending
// in a TaskEnd, and ends with Done; or with a Failure anywhere. Within a task:
//
//   generation   a Step for each step; where the task is fed, the driver answers each by FedToken.
//   a trace      before a traced step's Step: an OperationRecord for each operation that was asked
//                for, in execution order; at an operation in `questions` first a Question, to which
//                the driver says any number of Calls: the pass's own operation (same function, same
//                parameters) is applied to each and its Result sent; a Call with `end` lets the
//                pass go on, on its own inputs. Only then comes the operation's record.
//   kOperation   the driver says Calls, each answered by a Result; a Call with `end` ends the task.
//
// Calls may be sent ahead of their Results. The runner holds one Call at a time.
//
// Tasks of one batch work at the same time; the frames of each still come together, in the order of
// the tasks: those of its first task as they arise, those of each other when the ones before it
// have ended.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operation_frames.hpp"
#include "wire_codec.hpp"

namespace drift::wire {

inline constexpr char kMagic[8] = {'\x89', 'D', 'R', 'I', 'F', 'T', '\r', '\n'};
inline constexpr std::uint32_t kProtocol = 5;
inline constexpr std::size_t kMaxPreamble = std::size_t{1} << 20;

enum class FrameKind : std::uint32_t {
  // runner to driver
  kHello = 1,      ///< once, first: Hello
  kStep = 2,       ///< Step
  kTaskEnd = 3,    ///< TaskEnd
  kDone = 4,       ///< once, last: Done
  kFailure = 5,    ///< instead of anything more: Failure
  kOperation = 6,  ///< OperationRecord
  kQuestion = 7,   ///< Question
  kResult = 8,     ///< the answer to each Call that isn't an end: Result
  // driver to runner
  kJob = 64,    ///< once, first: Job
  kToken = 65,  ///< the answer to each Step of a fed task: FedToken
  kCall = 66    ///< to a Question, or in a kOperation task: Call
};

enum class Mode : std::uint32_t {
  kGreedy = 0,  ///< the token with the highest logit, the lowest id among equals
  kSample = 1,  ///< top-k sampling as transformers does it
  /// The ids are a text: one prefill, a Step for each position but the last. They may be one more
  /// than the context has positions: the last is then only a given one.
  kScore = 2,
  kDraw = 3,      ///< one draw from the task's `logits`, after `draws_before` others: one Step
  kOperation = 4  ///< Calls of the standalone operation `operation`: no Step, no model
};

enum class Sampler : std::uint32_t {
  kTorch = 0,  ///< at::multinomial from torch's generator, seeded before each task
  kFixed = 1   ///< a generator of our own, the same under every build
};

enum class Attention : std::uint32_t {
  kEager = 0,  ///< scores, scale, mask, softmax and sum as operations of their own
  kSdpa = 1    ///< at::scaled_dot_product_attention, with a scale that torch takes since 2.1
};

/// How attention brings in 1/√D. The model's flags say whether it does, and whether 1 / (layer + 1)
/// too; kSdpa with kDivide gives the operation no scale and so takes 1/√D whatever they say.
enum class ScoreScale : std::uint32_t {
  kDivide = 0,   ///< scores / √D, then / (layer + 1): transformers before 5.4
  kMultiply = 1  ///< scores · (D^-0.5 / (layer + 1)), the mask added: transformers since 5.4
};

/// What transformers calls around the attention; held for 4.15.0 and 4.25.1, and for 4.57.6 and
/// 5.24.0.
enum class GenerateCalls : std::uint32_t {
  /// The output head for all positions; a cache begins as views of the projection.
  kAllPositions = 0,
  /// generate() asks for the last position's logits alone, since 4.53 (a loop without cache calls
  /// the model itself, which gives all); a cache begins as copies, since 4.56; the scores' divisor
  /// is rounded to the model's type.
  kLastPosition = 1
};

/// One prompt in one mode.
struct Task {
  std::uint32_t id = 0;
  Mode mode = Mode::kGreedy;
  bool cache = true;  ///< keep keys and values, else run the whole context at each step
  bool fed = false;   ///< after each Step wait for a FedToken and go on from it
  std::vector<std::int32_t> ids;
  std::uint32_t new_tokens = 0;
  std::vector<std::int32_t> end_of_text;  ///< stop after any of these tokens
  std::uint32_t top_k = 0;                ///< sampling: 0 is no filter
  double temperature = 1.0;
  std::uint64_t seed = 0;
  Sampler sampler = Sampler::kTorch;
  std::uint32_t draws_before = 0;  ///< kDraw
  std::vector<float> logits;       ///< kDraw; length: the vocabulary
  /// kGreedy, kSample: the tokens that follow the steps, whatever the side would choose; after them
  /// its own choices. Not with `fed`.
  std::vector<std::int32_t> given;
  Trace trace;
  std::string operation;  ///< kOperation: a name of operations.hpp
  /// kGreedy, kSample: tasks that follow each other with the same number other than 0 run as one
  /// batch, in that order, padded on the left. Neither fed nor traced.
  std::uint32_t batch = 0;
};

/// All that one runner process does.
struct Job {
  /// Path of the canonical weights file, as the runner sees it; may be empty where all tasks are
  /// kOperation.
  std::string weights;
  std::uint32_t threads = 1;  ///< intra-op
  std::uint32_t interop_threads = 1;
  DType dtype = DType::kFloat32;  ///< what the model computes in; a Step's logits are float32
  Attention attention = Attention::kEager;
  ScoreScale score_scale = ScoreScale::kDivide;
  GenerateCalls generate_calls = GenerateCalls::kAllPositions;
  std::uint64_t memory_limit = 0;  ///< bytes of private memory (RLIMIT_DATA); 0: none
  std::uint32_t alignment = 64;    ///< bytes: tensors that it makes start at no rounder address
  bool flush_denormals = false;    ///< denormal results become 0
  std::string fault;               ///< a fault to plant, for tests; empty in all real use
  std::vector<Task> tasks;
};

struct FedToken {
  std::int32_t token = -1;  ///< -1 ends the task
};

/// What the runner found itself to be.
struct Hello {
  std::string torch;          ///< TORCH_VERSION of the headers
  std::string config;         ///< at::show_config(), then linked_blas()
  std::string parallel_info;  ///< at::get_parallel_info(): thread counts
  std::uint32_t threads = 0;  ///< at::get_num_threads()
  std::uint64_t pid = 0;
};

struct Step {
  std::uint32_t task = 0;
  std::uint32_t step = 0;   ///< from 1
  std::int32_t token = -1;  ///< the side's own choice
  /// The next token that was imposed: score's text, or of Task::given. (A fed task's is known to
  /// the driver.)
  std::optional<std::int32_t> given;
  std::optional<std::uint64_t> draw_digest;  ///< of the random draw, when one was made
  std::vector<float> logits;                 ///< length: the vocabulary
};

enum class Stopped : std::uint32_t { kLength = 0, kEndOfText = 1, kContext = 2, kFed = 3 };

struct TaskEnd {
  std::uint32_t task = 0;
  Stopped stopped = Stopped::kLength;
  double seconds = 0;
};

struct Done {
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t peak_address_bytes = 0;  ///< of the address space: no kind of memory had more
};

struct Failure {
  std::string what;
};

inline void put(Writer& w, const Task& t) {
  w.number(t.id);
  w.number(t.mode);
  w.number(t.cache);
  w.number(t.fed);
  w.numbers(t.ids);
  w.number(t.new_tokens);
  w.numbers(t.end_of_text);
  w.number(t.top_k);
  w.number(t.temperature);
  w.number(t.seed);
  w.number(t.sampler);
  w.number(t.draws_before);
  w.numbers(t.logits);
  w.numbers(t.given);
  put(w, t.trace);
  w.text(t.operation);
  w.number(t.batch);
}

inline void get(Reader& r, Task& t) {
  t.id = r.number<std::uint32_t>();
  t.mode = r.number<Mode>();
  t.cache = r.number<std::uint8_t>() != 0;
  t.fed = r.number<std::uint8_t>() != 0;
  t.ids = r.numbers<std::int32_t>();
  t.new_tokens = r.number<std::uint32_t>();
  t.end_of_text = r.numbers<std::int32_t>();
  t.top_k = r.number<std::uint32_t>();
  t.temperature = r.number<double>();
  t.seed = r.number<std::uint64_t>();
  t.sampler = r.number<Sampler>();
  t.draws_before = r.number<std::uint32_t>();
  t.logits = r.numbers<float>();
  t.given = r.numbers<std::int32_t>();
  get(r, t.trace);
  t.operation = r.text();
  t.batch = r.number<std::uint32_t>();
}

inline void put(Writer& w, const Job& j) {
  w.text(j.weights);
  w.number(j.threads);
  w.number(j.interop_threads);
  w.number(j.dtype);
  w.number(j.attention);
  w.number(j.score_scale);
  w.number(j.generate_calls);
  w.number(j.memory_limit);
  w.number(j.alignment);
  w.number(j.flush_denormals);
  w.text(j.fault);
  put(w, j.tasks);
}

inline void get(Reader& r, Job& j) {
  j.weights = r.text();
  j.threads = r.number<std::uint32_t>();
  j.interop_threads = r.number<std::uint32_t>();
  j.dtype = r.number<DType>();
  j.attention = r.number<Attention>();
  j.score_scale = r.number<ScoreScale>();
  j.generate_calls = r.number<GenerateCalls>();
  j.memory_limit = r.number<std::uint64_t>();
  j.alignment = r.number<std::uint32_t>();
  j.flush_denormals = r.number<std::uint8_t>() != 0;
  j.fault = r.text();
  get(r, j.tasks);
}

inline void put(Writer& w, const FedToken& t) { w.number(t.token); }
inline void get(Reader& r, FedToken& t) { t.token = r.number<std::int32_t>(); }

inline void put(Writer& w, const Hello& h) {
  w.text(h.torch);
  w.text(h.config);
  w.text(h.parallel_info);
  w.number(h.threads);
  w.number(h.pid);
}

inline void get(Reader& r, Hello& h) {
  h.torch = r.text();
  h.config = r.text();
  h.parallel_info = r.text();
  h.threads = r.number<std::uint32_t>();
  h.pid = r.number<std::uint64_t>();
}

inline void put(Writer& w, const Step& s) {
  w.number(s.task);
  w.number(s.step);
  w.number(s.token);
  w.maybe(s.given);
  w.maybe(s.draw_digest);
  w.numbers(s.logits);
}

inline void get(Reader& r, Step& s) {
  s.task = r.number<std::uint32_t>();
  s.step = r.number<std::uint32_t>();
  s.token = r.number<std::int32_t>();
  s.given = r.maybe<std::int32_t>();
  s.draw_digest = r.maybe<std::uint64_t>();
  s.logits = r.numbers<float>();
}

inline void put(Writer& w, const TaskEnd& e) {
  w.number(e.task);
  w.number(e.stopped);
  w.number(e.seconds);
}

inline void get(Reader& r, TaskEnd& e) {
  e.task = r.number<std::uint32_t>();
  e.stopped = r.number<Stopped>();
  e.seconds = r.number<double>();
}

inline void put(Writer& w, const Done& d) {
  w.number(d.peak_memory_bytes);
  w.number(d.peak_address_bytes);
}
inline void get(Reader& r, Done& d) {
  d.peak_memory_bytes = r.number<std::uint64_t>();
  d.peak_address_bytes = r.number<std::uint64_t>();
}

inline void put(Writer& w, const Failure& f) { w.text(f.what); }
inline void get(Reader& r, Failure& f) { f.what = r.text(); }

/// What comes before a payload of so many bytes.
inline std::string frame_head(FrameKind kind, std::size_t payload_bytes) {
  Writer head;
  head.number(kind);
  head.number<std::uint64_t>(payload_bytes);
  return head.bytes();
}

/// A whole frame, ready to be written.
template <class T>
std::string frame(FrameKind kind, const T& value) {
  Writer payload;
  put(payload, value);
  return frame_head(kind, payload.bytes().size()) + payload.bytes();
}

/// The contents of a payload; throws std::runtime_error when it isn't a T.
template <class T>
T parse(const std::string& payload) {
  Reader reader(payload);
  T value;
  get(reader, value);
  reader.end();
  return value;
}

}  // namespace drift::wire
