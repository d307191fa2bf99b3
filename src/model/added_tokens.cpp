#include "model/added_tokens.hpp"

#include <algorithm>

#include "model/code_points.hpp"
#include "model/word_pattern.hpp"

namespace drift {
namespace {

/// Finds texts in a text from left to right, each sought once past the last find.
template <typename Sought>
class Search {
 public:
  Search(std::string_view text, const std::vector<Sought>& tokens)
      : text_(text), tokens_(tokens), next_(tokens.size()) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      next_[i] = text_.find(tokens_[i].text);
    }
  }

  /// The next from `from` on, null at the text's end, and where it is.
  const Sought* next(std::size_t from, std::size_t& at) {
    const Sought* best = nullptr;
    at = text_.size();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Sought& token = tokens_[i];
      if (next_[i] < from) {
        next_[i] = text_.find(token.text, from);
      }
      if (next_[i] < at ||
          (next_[i] == at && best != nullptr && token.text.size() > best->text.size())) {
        at = next_[i];
        best = &token;
      }
    }
    return best;
  }

 private:
  std::string_view text_;
  const std::vector<Sought>& tokens_;
  std::vector<std::size_t> next_;
};

bool goes_on(std::string_view before, std::string_view after) {
  return (!before.empty() && is_word_character(last_code_point(before).value)) ||
         (!after.empty() && is_word_character(first_code_point(after).value));
}

}  // namespace

void AddedTokens::put(std::int32_t id, const AddedToken& token) {
  by_id_.insert_or_assign(id, token);
  ids_.insert_or_assign(token.content, id);
}

std::optional<std::int32_t> AddedTokens::find(const std::string& content) const {
  const auto found = ids_.find(content);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::pair<std::string, std::string>> AddedTokens::prepare(
    const std::function<std::string(const std::string&)>& normalised, bool split_special) {
  split_special_ = split_special;
  std::map<std::string, std::string> seen;  // of what is normalised, the token
  for (const auto& [id, token] : by_id_) {
    std::string text = token.normalized ? normalised(token.content) : token.content;
    if (token.normalized) {
      const auto [known, is_new] = seen.emplace(text, token.content);
      if (!is_new) {
        return std::pair(known->second, token.content);
      }
    }
    if (!text.empty()) {
      sought_[token.normalized ? 1 : 0].push_back({std::move(text), token, id});
    }
  }
  return std::nullopt;
}

void AddedTokens::cut(std::string_view text, bool normalized, const Token& token,
                      const Between& between) const {
  Search<Sought> search(text, sought_[normalized ? 1 : 0]);
  std::size_t done = 0;  // what came before it has been handed out
  std::size_t at = 0;
  for (std::size_t from = 0; from < text.size();) {
    const Sought* found = search.next(from, at);
    if (found == nullptr) {
      break;
    }
    std::size_t begin = at;
    std::size_t end = at + found->text.size();
    from = end;
    if ((split_special_ && found->token.special) ||
        (found->token.single_word && goes_on(text.substr(0, begin), text.substr(end)))) {
      continue;
    }
    if (found->token.lstrip) {
      begin = std::max(begin - trailing_space(text.substr(0, begin)), done);
    }
    if (found->token.rstrip) {
      end += leading_space(text.substr(end));
    }
    if (done < begin) {
      between(text.substr(done, begin - done));
    }
    token(found->id);
    done = end;
  }
  if (done < text.size()) {
    between(text.substr(done));
  }
}

}  // namespace drift
