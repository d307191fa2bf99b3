#include "driftaudit/tokenizer.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/vocabulary.hpp"
#include "model/word_pattern.hpp"

namespace drift {
namespace {

using Added = Vocabulary::Added;

/// Where an added token stands in a text, or past its end.
struct Found {
  std::size_t at;
  const Added* token;
};

/// The leftmost added token from `from` on, and among those that start there the longest.
Found find_added(std::string_view text, std::size_t from, const std::vector<Added>& tokens) {
  Found best{text.size(), nullptr};
  for (const Added& token : tokens) {
    // Nothing that starts right of the best found so far is of interest.
    const std::string_view window =
        best.token == nullptr ? text : text.substr(0, best.at + token.text.size());
    const std::size_t at = window.find(token.text, from);
    if (at == std::string_view::npos) {
      continue;
    }
    if (at < best.at || (at == best.at && token.text.size() > best.token->text.size())) {
      best = {at, &token};
    }
  }
  return best;
}

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
    std::size_t from = 0;
    while (from < text.size()) {
      const Found found = find_added(text, from, tokens);
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
    throw usage_error(fmt::format("text isn't UTF-8: invalid at byte {}", *at),
                      "save it as UTF-8");
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
