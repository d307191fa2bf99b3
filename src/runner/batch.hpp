#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/ATen.h>

#include "channel.hpp"
#include "faults.hpp"
#include "generation.hpp"
#include "gpt2.hpp"
#include "plant.hpp"
#include "sampling.hpp"
#include "stopwatch.hpp"
#include "task_check.hpp"
#include "wire.hpp"

namespace drift::runner {

/// The tasks that run as one batch, row by row.
using Batch = std::vector<const wire::Task*>;

/// The batch that begins with the job's task at `first`: the tasks from there on that have its
/// number, or that task alone where its number is 0.
Batch batch_at(const std::vector<wire::Task>& tasks, std::size_t first);

/// All rows' tokens, padded on the left to one length.
class PaddedContext {
 public:
  /// Pads with the batch's end-of-text token or, where nothing ends at one, with the vocabulary's
  /// last id, which GPT-2's is. Padding is masked: no row's answer depends on its id.
  PaddedContext(const Batch& batch, std::int64_t vocabulary);

  std::int64_t length() const { return ids_.size(1); }
  /// int64 [B, length()].
  const at::Tensor& ids() const { return ids_; }
  /// The last token of each row, [B, 1].
  at::Tensor last_ids() const { return ids_.slice(1, length() - 1); }
  /// int64 [B, length()]: 1 for a token, 0 for padding on the left. What a row that has ended is
  /// fed counts as tokens, as in transformers.
  const at::Tensor& attention() const { return attention_; }
  /// The id that a row that has ended is fed.
  std::int32_t padding() const { return padding_; }

  /// One more token for each row.
  void append(const std::vector<std::int32_t>& next);

 private:
  std::int32_t padding_;
  at::Tensor ids_, attention_;
};

/// Sends the frames of a batch task by task, though its rows come step by step: those of the first
/// task at once, those of each other when all before it have ended. The fault `swap-frames` lets
/// the first two tasks change names.
class BatchFrames {
 public:
  BatchFrames(const Batch& batch, const std::vector<Fault>& faults, Channel& channel);

  void add(std::size_t row, wire::Step step);
  void end(std::size_t row, wire::TaskEnd end);

 private:
  struct Frames {
    std::uint32_t task = 0;  ///< under whose id they go out
    std::vector<wire::Step> steps;
    std::optional<wire::TaskEnd> end;
  };

  void send_ready();

  std::vector<Frames> waiting_;     ///< by row
  std::vector<std::size_t> order_;  ///< rows, as they go out
  std::size_t sending_ = 0;         ///< index into order_
  Channel& channel_;
};

/// Lets the first two rows change places in a cache; one without them stays as it is.
void swap_first_rows(KvCache& cache);

/// Runs tasks together as transformers' generate() does: padded on the left, positions from the
/// mask's running sum, padding masked, rows that have ended fed with padding until all have. `Tap`
/// as in tap.hpp; the operations count as those of the batch's first task.
///
/// A row chooses as its task would alone, from its own logits and its own generator: its draws
/// don't depend on its neighbours. It ends as job.hpp says, where the context is the padded one.
template <class Tap>
class BatchRunner {
 public:
  BatchRunner(const Gpt2& model, Tap tap, const std::vector<Fault>& faults, Channel& channel)
      : model_(model), tap_(tap), faults_(faults), channel_(channel) {}

  void run(const Batch& batch) {
    check_batch(batch, model_);
    PaddedContext context(batch, model_.vocabulary());
    BatchFrames frames(batch, faults_, channel_);
    KvCache cache;
    rows_.clear();
    for (const wire::Task* task : batch) {
      rows_.push_back({task, generator_of(*task)});
      if (task->new_tokens == 0) {
        end(rows_.size() - 1, wire::Stopped::kLength, frames);
      }
    }
    for (std::uint32_t step = 1; running() > 0; ++step) {
      work_on(step, context, cache, frames);
    }
  }

 private:
  struct Row {
    const wire::Task* task;
    at::Generator generator;
    bool ended = false;
    double seconds = 0;
  };

  void work_on(std::uint32_t step, PaddedContext& context, KvCache& cache, BatchFrames& frames) {
    begin_step(step, cache);
    Stopwatch stopwatch;
    stopwatch.start();
    if (!rows_[0].task->cache) {
      cache = {};
    }
    const bool first = cache.length() == 0;
    const Caller caller = rows_[0].task->cache ? Caller::kGenerate : Caller::kGenerateWithoutCache;
    const at::Tensor last = model_
                                .forward(tap_, caller, first ? context.ids() : context.last_ids(),
                                         cache, context.attention())
                                .select(1, -1);
    std::vector<Choice> choices(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].ended) {
        choices[i] =
            chosen_token(*rows_[i].task, step, row_of(last, i), rows_[i].generator, faults_);
      }
    }
    const double share = stopwatch.stop() / static_cast<double>(running());
    std::vector<std::int32_t> next(rows_.size(), context.padding());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].ended) {
        rows_[i].seconds += share;
        next[i] = choices[i].token;
        frames.add(i, step_frame(*rows_[i].task, step, choices[i], row_of(last, i)));
      }
    }
    end_rows(step, next, context.length() + 1, frames);
    context.append(next);
  }

  void begin_step(std::uint32_t step, KvCache& cache) {
    for (const Row& row : rows_) {
      if (!row.ended) {
        plant_in_process(faults_, row.task->id, step, channel_);
      }
    }
    tap_.at(rows_[0].task->id, step);
    if (plants(faults_, Fault::Kind::kSwap, rows_[0].task->id, step)) {
      swap_first_rows(cache);
    }
  }

  /// Ends the rows for which `next` is the last token; `length`: the padded context's, with it.
  void end_rows(std::uint32_t step, const std::vector<std::int32_t>& next, std::int64_t length,
                BatchFrames& frames) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].ended) {
        continue;
      }
      if (const auto why =
              reason_to_stop(*rows_[i].task, step, next[i], length, model_.context_length())) {
        end(i, *why, frames);
      }
    }
  }

  void end(std::size_t row, wire::Stopped why, BatchFrames& frames) {
    rows_[row].ended = true;
    frames.end(row, {rows_[row].task->id, why, rows_[row].seconds});
  }

  std::size_t running() const {
    return static_cast<std::size_t>(
        std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return !row.ended; }));
  }

  /// [1, V].
  static at::Tensor row_of(const at::Tensor& logits, std::size_t row) {
    const auto at = static_cast<std::int64_t>(row);
    return logits.slice(0, at, at + 1);
  }

  const Gpt2& model_;
  Tap tap_;
  const std::vector<Fault>& faults_;
  Channel& channel_;
  std::vector<Row> rows_;
};

}  // namespace drift::runner
