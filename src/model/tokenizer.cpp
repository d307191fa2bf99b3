#include "driftaudit/tokenizer.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/vocabulary.hpp"
#include "model/word_pattern.hpp"

namespace drift {
namespace {

using Added = Vocabulary::Added;

/// Finds the added tokens of a text from left to right: the leftmost, and of those that start at
/// the same place the longest.
class AddedTokenSearch {
 public:
  struct Found {
    std::size_t at;
    const Added* token;  ///< null at the text's end
  };

  AddedTokenSearch(std::string_view text, const std::vector<Added>& tokens)
      : text_(text), tokens_(tokens), next_(tokens.size()) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      next_[i] = text_.find(tokens_[i].text);
    }
  }

  Found next(std::size_t from) {
    Found best{text_.size(), nullptr};
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Added& token = tokens_[i];
      if (next_[i] < from) {
        next_[i] = text_.find(token.text, from);
      }
      if (next_[i] < best.at || (next_[i] == best.at && best.token != nullptr &&
                                 token.text.size() > best.token->text.size())) {
        best = {next_[i], &token};
      }
    }
    return best;
  }

 private:
  std::string_view text_;
  const std::vector<Added>& tokens_;
  std::vector<std::size_t> next_;  // where each token comes next, so that none is sought twice
};

}  // namespace

struct Tokenizer::Impl {
  Vocabulary vocabulary;
  std::vector<Added> early;
  std::vector<Added> late;

  void encode_words(std::string_view text, std::vector<std::int32_t>& ids) const {
    std::vector<std::int32_t> word;
    for_each_word(text, [&](std::string_view bytes) {
      word.clear();
      for (const char byte : bytes) {
        word.push_back(vocabulary.byte_ids[static_cast<unsigned char>(byte)]);
      }
      vocabulary.merges.apply(word);
      ids.insert(ids.end(), word.begin(), word.end());
    });
  }

  /// Cuts `tokens` out of the text and leaves what lies between them to `between`.
  template <typename Between>
  static void cut(std::string_view text, const std::vector<Added>& tokens,
                  std::vector<std::int32_t>& ids, const Between& between) {
    AddedTokenSearch search(text, tokens);
    std::size_t from = 0;
    while (from < text.size()) {
      const AddedTokenSearch::Found found = search.next(from);
      between(text.substr(from, found.at - from));
      if (found.token == nullptr) {
        return;
      }
      ids.push_back(found.token->id);
      from = found.at + found.token->text.size();
    }
  }
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

Tokenizer Tokenizer::from_folder(const std::filesystem::path& folder) {
  auto impl = std::make_unique<Impl>();
  impl->vocabulary = read_vocabulary(folder);
  for (const Added& token : impl->vocabulary.added) {
    (token.early ? impl->early : impl->late).push_back(token);
  }
  return Tokenizer(std::move(impl));
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
  if (const auto at = invalid_utf8_at(text)) {
    throw usage_error(fmt::format("text isn't UTF-8: invalid at byte {}", *at), "save it as UTF-8");
  }
  std::vector<std::int32_t> ids;
  Impl::cut(text, impl_->early, ids, [&](std::string_view piece) {
    Impl::cut(piece, impl_->late, ids,
              [&](std::string_view words) { impl_->encode_words(words, ids); });
  });
  return ids;
}

std::string Tokenizer::token_bytes(std::int32_t id) const {
  const auto& bytes = impl_->vocabulary.bytes;
  if (id < 0 || static_cast<std::size_t>(id) >= bytes.size() ||
      !bytes[static_cast<std::size_t>(id)]) {
    throw usage_error(fmt::format("token {}: the vocabulary has no such id", id),
                      fmt::format("ids go from 0 to {}", bytes.size() - 1));
  }
  return *bytes[static_cast<std::size_t>(id)];
}

std::string Tokenizer::decode(const std::vector<std::int32_t>& ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    text += token_bytes(id);
  }
  return text;
}

std::size_t Tokenizer::size() const { return impl_->vocabulary.bytes.size(); }

void Tokenizer::pad_to(std::size_t size) {
  while (impl_->vocabulary.bytes.size() < size) {
    impl_->vocabulary.bytes.emplace_back("");
  }
}

}  // namespace drift
