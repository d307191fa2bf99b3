// Compiled with -ffp-contract=off, like what it is compared with.
#include "reveal/known_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "reveal/families.hpp"

namespace drift {
namespace {

using Row = std::span<const float>;

float serial_sum(Row x) {
  float sum = 0;
  for (const float value : x) {
    sum += value;
  }
  return sum;
}

float reverse_sum(Row x) {
  float sum = 0;
  for (std::size_t i = x.size(); i-- > 0;) {
    sum += x[i];
  }
  return sum;
}

float halving_sum(Row x) {
  if (x.size() == 1) {
    return x[0];
  }
  return halving_sum(x.first(x.size() / 2)) + halving_sum(x.subspan(x.size() / 2));
}

enum class Fold { kSerial, kHalves };

float fold_lanes(std::vector<float> lanes, Fold fold) {
  if (fold == Fold::kSerial) {
    return serial_sum(lanes);
  }
  for (std::size_t width = lanes.size() / 2; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) {
      lanes[lane] += lanes[lane + width];
    }
  }
  return lanes[0];
}

/// The last elements go into the first lanes, as a masked load has it.
float vertical_sum(Row x, std::size_t width, Fold fold) {
  std::vector<float> lanes(width, 0.0F);
  for (std::size_t i = 0; i < x.size(); ++i) {
    lanes[i % width] += x[i];
  }
  return fold_lanes(std::move(lanes), fold);
}

/// Eight lanes; the last elements are added one by one at the end.
float tailed_sum(Row x) {
  const std::size_t whole = x.size() / 8 * 8;
  float sum = whole == 0 ? 0 : vertical_sum(x.first(whole), 8, Fold::kHalves);
  for (const float value : x.subspan(whole)) {
    sum += value;
  }
  return sum;
}

/// Eight lanes; the fold starts with the sum of the last elements.
float tail_first_sum(Row x) {
  const std::size_t whole = x.size() / 8 * 8;
  float sum = serial_sum(x.subspan(whole));
  std::array<float, 8> lanes{};
  for (std::size_t i = 0; i < whole; ++i) {
    lanes[i % 8] += x[i];
  }
  for (const float lane : lanes) {
    sum += lane;
  }
  return sum;
}

/// Four accumulators of eight lanes, added one after the other, then the lanes 4, 2, 1 apart.
float accumulators_sum(Row x) {
  std::vector<float> lanes(32, 0.0F);
  for (std::size_t i = 0; i < x.size(); ++i) {
    lanes[i % 32] += x[i];
  }
  std::vector<float> folded(lanes.begin(), lanes.begin() + 8);
  for (std::size_t i = 8; i < 32; ++i) {
    folded[i % 8] += lanes[i];
  }
  return fold_lanes(std::move(folded), Fold::kHalves);
}

/// Blocks of 128, each serial; the blocks' sums in halves.
float blocks_sum(Row x) {
  std::vector<float> sums;
  for (std::size_t first = 0; first < x.size(); first += 128) {
    sums.push_back(serial_sum(x.subspan(first, std::min<std::size_t>(128, x.size() - first))));
  }
  return halving_sum(sums);
}

/// Neighbours first, then neighbouring sums.
float neighbours_sum(Row x) {
  std::vector<float> sums(x.begin(), x.end());
  while (sums.size() > 1) {
    std::vector<float> next;
    for (std::size_t i = 0; i < sums.size(); i += 2) {
      next.push_back(i + 1 < sums.size() ? sums[i] + sums[i + 1] : sums[i]);
    }
    sums = std::move(next);
  }
  return sums[0];
}

/// numpy's: serial below 8, up to 128 in eight lanes folded neighbours first, else in halves at a
/// multiple of 8.
float numpy_sum(Row x) {
  if (x.size() < 8) {
    return serial_sum(x);
  }
  if (x.size() > 128) {
    const std::size_t half = x.size() / 2 / 8 * 8;
    return numpy_sum(x.first(half)) + numpy_sum(x.subspan(half));
  }
  const std::size_t whole = x.size() / 8 * 8;
  std::array<float, 8> r{};
  for (std::size_t i = 0; i < whole; ++i) {
    r[i % 8] += x[i];
  }
  float sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (const float value : x.subspan(whole)) {
    sum += value;
  }
  return sum;
}

std::vector<SumTree::Node> from_to(std::size_t first, std::size_t end) {
  std::vector<SumTree::Node> nodes(end - first);
  std::iota(nodes.begin(), nodes.end(), static_cast<SumTree::Node>(first));
  return nodes;
}

SumTree::Node numpy_node(TreeBuilder& builder, std::size_t first, std::size_t end) {
  const std::size_t n = end - first;
  if (n > 128) {
    const std::size_t half = n / 2 / 8 * 8;
    const SumTree::Node left = numpy_node(builder, first, first + half);
    return builder.add({left, numpy_node(builder, first + half, end)});
  }
  const SumTree tree = n < 8
                           ? serial_tree(n)
                           : with_serial_tail(lanes_tree(n / 8 * 8, 8, fold_tree(8, {1, 2, 4})), n);
  return builder.graft(tree, from_to(first, end));
}

SumTree numpy_tree(std::size_t terms) {
  TreeBuilder builder(terms);
  numpy_node(builder, 0, terms);
  return builder.finish();
}

SumTree tail_first_tree(std::size_t terms) {
  const std::size_t whole = terms / 8 * 8;
  if (whole == 0 || whole == terms) {
    return whole == 0 ? serial_tree(terms) : lanes_tree(terms, 8, serial_tree(8));
  }
  TreeBuilder builder(terms);
  std::vector<SumTree::Node> sums = {
      builder.graft(serial_tree(terms - whole), from_to(whole, terms))};
  for (SumTree::Node lane = 0; lane < 8; ++lane) {
    std::vector<SumTree::Node> members;
    for (SumTree::Node i = lane; i < whole; i += 8) {
      members.push_back(i);
    }
    sums.push_back(builder.graft(serial_tree(members.size()), members));
  }
  builder.graft(serial_tree(9), sums);
  return builder.finish();
}

std::function<SumTree(std::size_t)> vertical_tree(std::size_t width, Fold fold) {
  return [=](std::size_t terms) {
    const std::size_t lanes = std::min(width, terms);
    std::vector<std::size_t> distances;
    for (std::size_t distance = width / 2; distance > 0; distance /= 2) {
      distances.push_back(distance);
    }
    return lanes_tree(terms, width,
                      fold == Fold::kSerial ? serial_tree(lanes) : fold_tree(lanes, distances));
  };
}

SumTree accumulators_tree(std::size_t terms) {
  const std::size_t wide = std::min<std::size_t>(terms, 32);
  const std::size_t lanes = std::min<std::size_t>(terms, 8);
  return lanes_tree(terms, 32, lanes_tree(wide, 8, fold_tree(lanes, {4, 2, 1})));
}

SumTree tailed_tree(std::size_t terms) {
  return terms < 8 ? serial_tree(terms)
                   : with_serial_tail(lanes_tree(terms / 8 * 8, 8, fold_tree(8, {4, 2, 1})), terms);
}

RowSum vertical(std::size_t width, Fold fold) {
  return [=](Row x) { return vertical_sum(x, width, fold); };
}

std::vector<KnownSum> make_known_sums() {
  const auto blocks = [](std::size_t terms) {
    return blocks_tree(terms, 128, halving_tree((terms + 127) / 128));
  };
  return {
      {"serial", serial_sum, serial_tree},
      {"reverse", reverse_sum, reverse_serial_tree},
      {"halves", halving_sum, halving_tree},
      {"neighbours", neighbours_sum, neighbours_tree},
      {"8 lanes, serial fold", vertical(8, Fold::kSerial), vertical_tree(8, Fold::kSerial)},
      {"8 lanes, tree fold", vertical(8, Fold::kHalves), vertical_tree(8, Fold::kHalves)},
      {"16 lanes, serial fold", vertical(16, Fold::kSerial), vertical_tree(16, Fold::kSerial)},
      {"16 lanes, tree fold", vertical(16, Fold::kHalves), vertical_tree(16, Fold::kHalves)},
      {"stride 3", vertical(3, Fold::kSerial), vertical_tree(3, Fold::kSerial)},
      {"4 accumulators", accumulators_sum, accumulators_tree},
      {"serial tail", tailed_sum, tailed_tree},
      {"tail first", tail_first_sum, tail_first_tree},
      {"blocks", blocks_sum, blocks},
      {"numpy", numpy_sum, numpy_tree},
  };
}

}  // namespace

void PrintTo(const KnownSum& known, std::ostream* out) { *out << known.name; }

const std::vector<KnownSum>& known_sums() {
  static const std::vector<KnownSum> kSums = make_known_sums();
  return kSums;
}

const KnownSum& known_sum(const std::string& name) {
  for (const KnownSum& known : known_sums()) {
    if (known.name == name) {
      return known;
    }
  }
  throw std::logic_error("no known sum is called " + name);
}

RowKernel each_row(RowSum sum) {
  return [sum = std::move(sum)](std::size_t rows, std::size_t length, Row values) {
    std::vector<float> out;
    for (std::size_t row = 0; row < rows; ++row) {
      out.push_back(sum(values.subspan(row * length, length)));
    }
    return out;
  };
}

float exp_of(float x) { return static_cast<float>(std::exp(double{x})); }

RowKernel softmax_over(RowSum sum, bool reciprocal) {
  return [=](std::size_t rows, std::size_t length, Row values) {
    std::vector<float> out(values.begin(), values.end());
    for (std::size_t row = 0; row < rows; ++row) {
      const std::span<float> x = std::span(out).subspan(row * length, length);
      const float max = *std::max_element(x.begin(), x.end());
      std::transform(x.begin(), x.end(), x.begin(), [=](float v) { return exp_of(v - max); });
      const float total = sum(x);
      const float inverse = 1 / total;
      for (float& value : x) {
        value = reciprocal ? value * inverse : value / total;
      }
    }
    return out;
  };
}

float lanes_dot(Row a, Row b, bool fused) {
  std::array<float, 8> lanes{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float product = a[i] * b[i];
    lanes[i % 8] = fused ? std::fma(a[i], b[i], lanes[i % 8]) : lanes[i % 8] + product;
  }
  return serial_sum(lanes);
}

DotKernel each_dot(std::function<float(Row, Row)> dot) {
  return [dot = std::move(dot)](std::size_t rows, std::size_t length, Row a, Row b) {
    std::vector<float> out;
    for (std::size_t row = 0; row < rows; ++row) {
      out.push_back(dot(a.subspan(row * length, length), b.subspan(row * length, length)));
    }
    return out;
  };
}

float dropping_adder(Row terms) {
  float sum = 0;
  for (std::size_t first = 0; first < terms.size(); first += 4) {
    std::vector<double> at_once = {sum};
    for (const float term : terms.subspan(first, std::min<std::size_t>(4, terms.size() - first))) {
      at_once.push_back(term);
    }
    int exponent = -149;
    for (const double value : at_once) {
      if (value != 0) {
        exponent = std::max(exponent, std::ilogb(value));
      }
    }
    double total = 0;
    for (const double value : at_once) {
      total += std::ldexp(std::trunc(std::ldexp(value, 24 - exponent)), exponent - 24);
    }
    sum = static_cast<float>(total);
  }
  return sum;
}

float exact_adder(Row terms) {
  // 2^100 and less than 2^53 ones need more than a double: the masks are added first.
  double masks = 0;
  double ones = 0;
  for (const float term : terms) {
    (std::abs(term) > 0x1p60F ? masks : ones) += term;
  }
  return static_cast<float>(masks + ones);
}

float largest(Row terms) { return *std::max_element(terms.begin(), terms.end()); }

float running_mean(Row terms) {
  std::array<float, 8> means{};
  std::array<float, 8> counts{};
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::size_t lane = i % 8;
    counts[lane] += 1;
    means[lane] += (terms[i] - means[lane]) * (1 / counts[lane]);
  }
  float mean = 0;
  float count = 0;
  for (std::size_t lane = 0; lane < 8; ++lane) {
    const float share = counts[lane] == 0 ? 0 : counts[lane] / (count + counts[lane]);
    mean += share * (means[lane] - mean);
    count += counts[lane];
  }
  return mean;
}

}  // namespace drift
