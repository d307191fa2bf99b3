#include "batch.hpp"

#include <algorithm>
#include <utility>

namespace drift::runner {

Batch batch_at(const std::vector<wire::Task>& tasks, std::size_t first) {
  Batch batch = {&tasks[first]};
  for (std::size_t i = first + 1; i < tasks.size(); ++i) {
    if (tasks[first].batch == 0 || tasks[i].batch != tasks[first].batch) {
      break;
    }
    batch.push_back(&tasks[i]);
  }
  return batch;
}

PaddedContext::PaddedContext(const Batch& batch, std::int64_t vocabulary)
    : padding_(static_cast<std::int32_t>(vocabulary - 1)) {
  std::size_t longest = 0;
  for (const wire::Task* task : batch) {
    longest = std::max(longest, task->ids.size());
    padding_ = task->end_of_text.empty() ? padding_ : task->end_of_text.front();
  }
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(batch.size()),
                                           static_cast<std::int64_t>(longest)};
  ids_ = at::full(shape, at::Scalar(padding_), at::TensorOptions(at::kLong));
  attention_ = at::zeros(shape, at::TensorOptions(at::kLong));
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const std::vector<std::int32_t>& ids = batch[row]->ids;
    const std::size_t end = (row + 1) * longest;
    std::copy(ids.begin(), ids.end(), ids_.data_ptr<std::int64_t>() + end - ids.size());
    std::fill_n(attention_.data_ptr<std::int64_t>() + end - ids.size(), ids.size(), 1);
  }
}

void PaddedContext::append(const std::vector<std::int32_t>& next) {
  const auto rows = static_cast<std::int64_t>(next.size());
  at::Tensor column = at::empty({rows, 1}, at::TensorOptions(at::kLong));
  std::copy(next.begin(), next.end(), column.data_ptr<std::int64_t>());
  ids_ = at::cat({ids_, column}, -1);
  attention_ = at::cat({attention_, at::ones({rows, 1}, at::TensorOptions(at::kLong))}, -1);
}

BatchFrames::BatchFrames(const Batch& batch, const std::vector<Fault>& faults, Channel& channel)
    : waiting_(batch.size()), channel_(channel) {
  for (std::size_t row = 0; row < batch.size(); ++row) {
    waiting_[row].task = batch[row]->id;
    order_.push_back(row);
  }
  if (batch.size() > 1 && plants(faults, Fault::Kind::kSwapFrames, batch[0]->id, 1)) {
    std::swap(waiting_[0].task, waiting_[1].task);
    std::swap(order_[0], order_[1]);
  }
}

void BatchFrames::add(std::size_t row, wire::Step step) {
  step.task = waiting_[row].task;
  waiting_[row].steps.push_back(std::move(step));
  send_ready();
}

void BatchFrames::end(std::size_t row, wire::TaskEnd end) {
  end.task = waiting_[row].task;
  waiting_[row].end = end;
  send_ready();
}

void BatchFrames::send_ready() {
  while (sending_ < order_.size()) {
    Frames& frames = waiting_[order_[sending_]];
    for (const wire::Step& step : frames.steps) {
      channel_.send(wire::FrameKind::kStep, step);
    }
    frames.steps.clear();
    if (!frames.end) {
      return;
    }
    channel_.send(wire::FrameKind::kTaskEnd, *frames.end);
    ++sending_;
  }
}

void swap_first_rows(KvCache& cache) {
  if (cache.length() == 0 || cache.blocks[0].keys.size(0) < 2) {
    return;
  }
  at::Tensor rows = at::arange(cache.blocks[0].keys.size(0), at::TensorOptions(at::kLong));
  rows.data_ptr<std::int64_t>()[0] = 1;
  rows.data_ptr<std::int64_t>()[1] = 0;
  for (KvCache::Entry& entry : cache.blocks) {
    entry = {entry.keys.index_select(0, rows), entry.values.index_select(0, rows)};
  }
}

}  // namespace drift::runner
