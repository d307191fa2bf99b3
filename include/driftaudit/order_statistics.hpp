#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace drift {

/// The middle value, or the mean of the two middle ones; nothing of no values. Values that aren't
/// finite have no part in it.
std::optional<double> median(std::vector<double> values);

/// The value of which `percent` of all are at or below, by nearest rank. `sorted` rises and isn't
/// empty.
double percentile(const std::vector<double>& sorted, std::size_t percent);

}  // namespace drift
