#include "reveal/read_order.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "reveal/families.hpp"

namespace drift {
namespace {

using Node = SumTree::Node;
using Nodes = std::vector<Node>;

/// What can't be told apart from words alone.
struct Open {};

/// Reads words from the left and builds as it goes.
class Reader {
 public:
  Reader(std::string words, TreeBuilder& builder) : rest_(std::move(words)), builder_(builder) {}

  /// All of the words, over these sums; `shorter`: by how many than those that the words were
  /// written for. Two sums have one order, whatever the words.
  Node order(const Nodes& nodes, std::size_t shorter = 0) {
    if (nodes.size() <= 2 && onto_lane_.empty() && before_fold_.empty()) {
      return chain(nodes);
    }
    shorter_ = shorter;
    const Node root = sequence(nodes);
    if (!rest_.empty()) {
      throw std::logic_error("not read: " + rest_);
    }
    return root;
  }

 private:
  bool took(const std::string& word) {
    if (rest_.rfind(word, 0) != 0) {
      return false;
    }
    rest_.erase(0, word.size());
    return true;
  }
  void take(const std::string& word) {
    if (!took(word)) {
      throw std::logic_error("no \"" + word + "\" at: " + rest_);
    }
  }
  std::size_t number() {
    std::size_t digits = 0;
    const std::size_t value = std::stoul(rest_, &digits);
    rest_.erase(0, digits);
    return value;
  }
  bool starts_with_number() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }
  /// Up to the parenthesis that closes the one before, or the first of these marks.
  std::string part(const std::vector<std::string>& marks) {
    std::size_t end = rest_.size();
    if (took("(")) {
      std::size_t open = 1;
      for (end = 0; open > 0; ++end) {
        open += rest_.at(end) == '(' ? 1 : 0;
        open -= rest_.at(end) == ')' ? 1 : 0;
      }
      const std::string text = rest_.substr(0, end - 1);
      rest_.erase(0, end);
      return text;
    }
    for (const std::string& mark : marks) {
      end = std::min(end, rest_.find(mark));
    }
    const std::string text = rest_.substr(0, end);
    rest_.erase(0, end);
    return text;
  }

  static Nodes from(const Nodes& nodes, std::size_t first, std::size_t step) {
    Nodes taken;
    for (std::size_t i = first; i < nodes.size(); i += step) {
      taken.push_back(nodes[i]);
    }
    return taken;
  }
  Node chain(const Nodes& nodes) { return builder_.graft(serial_tree(nodes.size()), nodes); }

  /// A whole order with what is said of its last terms.
  Node sequence(const Nodes& nodes) {
    if (took("the last ")) {
      const std::size_t size = number();
      take(" onto the first term one after the other; then ");
      Nodes head = without_last(nodes, size);
      Nodes first = last_of(nodes, size);
      first.insert(first.begin(), head[0]);
      head[0] = chain(first);
      return body(head);
    }
    if (const std::size_t size = leading_tail(); size > 0) {
      return body(onto_first(nodes, size));
    }
    if (const std::size_t at = outside("; then fold from "); at != std::string::npos) {
      return with_tail_before_fold(nodes, at);
    }
    // The tail's words come last: the head is read without it.
    for (const std::string mark : {"; then the last ", "; then the sum of the last "}) {
      if (const std::size_t at = outside(mark); at != std::string::npos) {
        return with_tail(nodes, at, mark);
      }
    }
    if (const std::size_t at = outside("; the last "); at != std::string::npos) {
      const std::string head = rest_.substr(0, at);
      rest_.erase(0, at + std::string("; the last ").size());
      const std::size_t size = tail_size(number(), head);
      take(" in the first lane");
      Reader reader(head, builder_);
      reader.onto_lane_ = last_of(nodes, size);
      return reader.order(without_last(nodes, size), head_shorter(head));
    }
    return body(nodes);
  }

  /// Lanes that are all filled: what they leave is the tail.
  static bool fills_lanes(const std::string& head) {
    return !head.empty() && head[0] >= '0' && head[0] <= '9' &&
           outside(head, " masked") == std::string::npos;
  }
  std::size_t tail_size(std::size_t told, const std::string& head) const {
    return fills_lanes(head) ? told - std::min(told, shorter_) : told;
  }
  std::size_t head_shorter(const std::string& head) const {
    return fills_lanes(head) ? 0 : shorter_;
  }

  Node with_tail(const Nodes& nodes, std::size_t at, const std::string& mark) {
    const std::string head = rest_.substr(0, at);
    rest_.erase(0, at + mark.size());
    const std::size_t size = tail_size(number(), head);
    took(" one after the other");
    const Nodes last = last_of(nodes, size);
    Nodes sums = {Reader(head, builder_).order(without_last(nodes, size), head_shorter(head))};
    if (size > 0 && mark.find("the sum of") != std::string::npos) {
      sums.push_back(chain(last));
    } else {
      sums.insert(sums.end(), last.begin(), last.end());
    }
    return chain(sums);
  }

  /// Lanes whose fold starts with the last terms, which are in no lane.
  Node with_tail_before_fold(const Nodes& nodes, std::size_t at) {
    const std::string fold = "; then fold ";
    const std::string head = rest_.substr(0, at);
    rest_.erase(0, at + fold.size());
    const std::size_t size = tail_size(leading_tail(), head);
    rest_ = head + fold + rest_;
    shorter_ = head_shorter(head);
    before_fold_ = last_of(nodes, size);
    return body(without_last(nodes, size));
  }

  static Nodes without_last(const Nodes& nodes, std::size_t size) {
    if (size >= nodes.size()) {
      throw std::logic_error("a tail of all terms");
    }
    return {nodes.begin(), nodes.end() - static_cast<std::ptrdiff_t>(size)};
  }
  static Nodes last_of(const Nodes& nodes, std::size_t size) {
    return {nodes.end() - static_cast<std::ptrdiff_t>(std::min(size, nodes.size())), nodes.end()};
  }

  /// Where a mark stands that no parenthesis holds; the last one.
  std::size_t outside(const std::string& mark) const { return outside(rest_, mark); }
  static std::size_t outside(const std::string& text, const std::string& mark) {
    std::size_t found = std::string::npos;
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (open == 0 && text.compare(i, mark.size(), mark) == 0) {
        found = i;
      }
    }
    return found;
  }

  /// "from the last one on: " or "from the sum of the last 3 on: "; 0 for neither.
  std::size_t leading_tail() {
    if (took("from the last one on: ")) {
      return 1;
    }
    if (!took("from the sum of the last ")) {
      return 0;
    }
    const std::size_t size = number();
    take(" on: ");
    return size;
  }
  /// Without the last ones, whose sum is added to the first.
  Nodes onto_first(const Nodes& nodes, std::size_t size) {
    Nodes head = without_last(nodes, size);
    head[0] = builder_.add({head[0], chain(last_of(nodes, size))});
    return head;
  }

  Node body(const Nodes& nodes) {
    if (took("one term")) {
      return nodes.at(0);
    }
    if (took("irregular")) {
      if (!took(": ")) {
        throw Open();
      }
      if (rest_.find(" terms, ") != std::string::npos) {
        throw Open();
      }
      const SumTree tree = tree_from_text(rest_);
      rest_.clear();
      return builder_.graft(tree, nodes);
    }
    if (took("serial, from the last on")) {
      return builder_.graft(reverse_serial_tree(nodes.size()), nodes);
    }
    if (took("serial, ")) {
      const std::size_t width = number();
      take(" terms at once");
      return builder_.graft(wide_serial_tree(nodes.size(), width), nodes);
    }
    if (took("serial")) {
      return chain(nodes);
    }
    if (took("pairwise, in halves")) {
      return builder_.graft(halving_tree(nodes.size()), nodes);
    }
    if (took("pairwise")) {
      return builder_.graft(neighbours_tree(nodes.size()), nodes);
    }
    if (took("fold ")) {
      return builder_.graft(fold_tree(nodes.size(), distances()), nodes);
    }
    if (took("blocks of ")) {
      return blocks(nodes);
    }
    return lanes(nodes);
  }

  std::vector<std::size_t> distances() {
    std::vector<std::size_t> found;
    do {
      if (took("neighbours")) {
        found.push_back(1);
      } else {
        found.push_back(number());
        take(" apart");
      }
    } while (took(", "));
    return found;
  }

  Node blocks(const Nodes& nodes) {
    const std::size_t size = number();
    take(", each ");
    const std::string each = part({"; blocks "});
    take("; blocks ");
    Nodes sums;
    for (std::size_t first = 0; first < nodes.size(); first += size) {
      const std::size_t end = std::min(first + size, nodes.size());
      const Nodes block(nodes.begin() + static_cast<std::ptrdiff_t>(first),
                        nodes.begin() + static_cast<std::ptrdiff_t>(end));
      sums.push_back(group(each, block, std::min(size, nodes.size() + shorter_)));
    }
    const std::size_t told = (nodes.size() + shorter_ + size - 1) / size;
    return Reader(part({}), builder_).order(sums, told - sums.size());
  }

  /// One of several groups that are added alike, of which the first has `whole` terms.
  Node group(const std::string& each, const Nodes& nodes, std::size_t whole) {
    return Reader(each, builder_).order(nodes, whole - nodes.size());
  }

  Node lanes(const Nodes& nodes) {
    std::size_t count = number();
    std::size_t accumulators = 1;
    if (took(" accumulators of ")) {
      accumulators = count;
      count = number();
    }
    take(" lanes, ");
    const std::string each = took("vertical") ? "serial" : each_lane();
    if (took(", the last ")) {
      number();
      take(" masked");
    }
    const std::size_t all = count * accumulators;
    const std::size_t width = std::min(all, nodes.size());
    Nodes sums;
    for (std::size_t lane = 0; lane < width; ++lane) {
      const Nodes members = from(nodes, lane, width);
      sums.push_back(group(each, members, (nodes.size() + shorter_ + all - 1) / all));
    }
    if (took("; accumulators ")) {
      const std::string over = part({"; then fold "});
      Nodes narrow;
      for (std::size_t lane = 0; lane < count; ++lane) {
        narrow.push_back(group(over, from(sums, lane, count), accumulators));
      }
      sums = narrow;
    }
    take("; then fold ");
    return folded(sums);
  }
  std::string each_lane() {
    take("each ");
    return part({", the last ", "; accumulators ", "; then fold "});
  }

  Node folded(Nodes sums) {
    if (!onto_lane_.empty()) {
      Nodes first = {sums[0]};
      first.insert(first.end(), onto_lane_.begin(), onto_lane_.end());
      sums[0] = chain(first);
    }
    if (!before_fold_.empty()) {
      sums[0] = builder_.add({sums[0], chain(before_fold_)});
    }
    if (took("0+1, +2 … (one after the other)") || took("0+1")) {
      return chain(sums);
    }
    if (starts_with_number() || rest_.rfind("neighbours", 0) == 0) {
      return builder_.graft(fold_tree(sums.size(), distances()), sums);
    }
    return Reader(part({}), builder_).order(sums);
  }

  std::string rest_;
  TreeBuilder& builder_;
  std::size_t shorter_ = 0;
  Nodes onto_lane_;    ///< added to the first lane one by one
  Nodes before_fold_;  ///< their sum is added to the first lane
};

/// The words without what they say of fused products, which stands last.
std::string without_fused(const std::string& words) {
  const std::size_t at = words.find("; fused multiply-add for ");
  return words.substr(0, at);
}

}  // namespace

std::optional<SumTree> read_order(const std::string& words, std::size_t terms) {
  TreeBuilder builder(terms);
  Nodes nodes;
  for (Node i = 0; i < terms; ++i) {
    nodes.push_back(i);
  }
  try {
    Reader(without_fused(words), builder).order(nodes);
  } catch (const Open&) {
    return std::nullopt;
  }
  return builder.finish();
}

}  // namespace drift
