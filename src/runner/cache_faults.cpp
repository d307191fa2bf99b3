#include "cache_faults.hpp"

#include <algorithm>
#include <iterator>

#include "attention.hpp"

namespace drift::runner {
namespace {

constexpr std::int64_t kPositions = 2;  ///< the dimension of keys and values that counts positions

/// The mask of one token, which then doesn't see the newest key: its own. [.., 1, K], bool or added
/// to the scores.
at::Tensor mask_off_by_one(const at::Tensor& mask) {
  const std::int64_t keys = mask.size(-1);
  if (mask.size(-2) != 1 || keys < 2) {
    return mask;
  }
  at::Tensor shifted = mask.clone();
  if (mask.scalar_type() == at::kBool) {
    shifted.select(-1, keys - 1).fill_(false);
  } else {
    shifted.select(-1, keys - 1).copy_(lowest_score(mask.scalar_type()));
  }
  return shifted;
}

/// The same of scaled_dot_product_attention's inputs, which often have no mask.
void see_one_key_less(std::vector<at::Tensor>& inputs) {
  if (inputs.size() > 3) {
    inputs[3] = mask_off_by_one(inputs[3]);
  } else if (const std::int64_t keys = inputs[1].size(kPositions);
             inputs[0].size(kPositions) == 1 && keys > 1) {
    inputs[1] = inputs[1].narrow(kPositions, 0, keys - 1);
    inputs[2] = inputs[2].narrow(kPositions, 0, keys - 1);
  }
}

/// The position ids [1, 1] of one token, off by so many, within the table of positions.
at::Tensor positions_off_by(const at::Tensor& positions, std::uint32_t count,
                            std::int64_t table_rows) {
  if (positions.size(-1) != 1) {
    return positions;
  }
  return at::add(positions, at::Scalar(static_cast<std::int64_t>(std::max(count, 1U))))
      .clamp_max(at::Scalar(table_rows - 1));
}

}  // namespace

CacheFaults::CacheFaults(const std::vector<Fault>& faults) {
  std::copy_if(faults.begin(), faults.end(), std::back_inserter(faults_),
               [](const Fault& fault) { return fault.in_cache(); });
}

void CacheFaults::alter(OperationName name, std::uint32_t task, std::uint32_t step,
                        std::vector<at::Tensor>& inputs) {
  const std::string what = name.name;
  if (what == "attn.keys" || what == "attn.values") {
    alter_cache(task, step, held_[name.text()], inputs[0]);
    return;
  }
  for (const Fault& fault : faults_) {
    if (!fault.applies(task, step)) {
      continue;
    }
    if (fault.kind == Fault::Kind::kMask && what == "attn.mask") {
      inputs[0] = mask_off_by_one(inputs[0]);
    } else if (fault.kind == Fault::Kind::kMask && what == "attn.sdpa") {
      see_one_key_less(inputs);
    } else if (fault.kind == Fault::Kind::kPosition && what == "embed.positions") {
      inputs[1] = positions_off_by(inputs[1], fault.size, inputs[0].size(0));
    }
  }
}

void CacheFaults::alter_cache(std::uint32_t task, std::uint32_t step, Held& held,
                              at::Tensor& past) const {
  if (!held.latest.defined() || held.task != task) {
    held = {{}, held.latest, {}, task, past.size(kPositions), 0};
  }
  past = past.clone();
  for (const Fault& fault : faults_) {
    if (fault.applies(task, step)) {
      tamper(fault, held, past);
    } else if (fault.kind == Fault::Kind::kPrefill && held.unwritten.defined()) {
      past.narrow(kPositions, held.prompt - held.unwritten.size(kPositions),
                  held.unwritten.size(kPositions))
          .copy_(held.unwritten);
      held.unwritten = at::Tensor();
    }
  }
  held.latest = past;
}

void CacheFaults::tamper(const Fault& fault, Held& held, at::Tensor& past) {
  const std::int64_t length = past.size(kPositions);
  if (fault.kind == Fault::Kind::kOverwrite && fault.at < length) {
    past.select(kPositions, fault.at).copy_(past.select(kPositions, length - 1).clone());
  } else if (fault.kind == Fault::Kind::kStale && held.before.defined() &&
             held.before.size(0) == past.size(0)) {
    const std::int64_t stale = std::min(length, held.before.size(kPositions));
    past.narrow(kPositions, 0, stale).copy_(held.before.narrow(kPositions, 0, stale));
  } else if (fault.kind == Fault::Kind::kWrap) {
    wrap(fault.size, held, past);
  } else if (fault.kind == Fault::Kind::kPrefill) {
    hold_back(std::min<std::int64_t>(fault.size, held.prompt), held, past);
  }
}

/// Moves what lies beyond the capacity to where the wrapped index points, and leaves zeros.
void CacheFaults::wrap(std::int64_t capacity, Held& held, at::Tensor& past) {
  const std::int64_t length = past.size(kPositions);
  for (std::int64_t p = std::max(capacity, held.wrapped); p < length; ++p) {
    past.select(kPositions, p % capacity).copy_(past.select(kPositions, p));
    past.select(kPositions, p).zero_();
  }
  held.wrapped = length;
}

/// Zeros in place of the prompt's last positions, which are kept for when they are written.
void CacheFaults::hold_back(std::int64_t positions, Held& held, at::Tensor& past) {
  at::Tensor late = past.narrow(kPositions, held.prompt - positions, positions);
  if (!held.unwritten.defined()) {
    held.unwritten = late.clone();
  }
  late.zero_();
}

}  // namespace drift::runner
