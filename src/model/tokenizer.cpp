#include "driftaudit/tokenizer.hpp"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/shown.hpp"
#include "model/vocabulary.hpp"
#include "model/word_pattern.hpp"

namespace drift {

struct Tokenizer::Impl {
  Vocabulary vocabulary;
  std::optional<Error> none;             // why there is no vocabulary
  std::optional<std::size_t> model_ids;  // of the model: fit_to()

  void encode_word(std::string_view bytes, std::vector<std::int32_t>& ids) const {
    if (!vocabulary.whole_words.empty()) {
      const auto whole = vocabulary.whole_words.find(std::string(bytes));
      if (whole != vocabulary.whole_words.end()) {
        ids.push_back(whole->second);
        return;
      }
    }
    std::vector<std::int32_t> word;
    for (const char byte : bytes) {
      const auto value = static_cast<unsigned char>(byte);
      const std::int32_t id = vocabulary.byte_ids[value];
      if (id == Vocabulary::kNoToken) {
        throw usage_error(fmt::format("the tokenizer has no token for the byte {:#04x}", value),
                          "leave it out, or give the prompt as ids");
      }
      word.push_back(id);
    }
    vocabulary.merges.apply(word);
    ids.insert(ids.end(), word.begin(), word.end());
  }

  void encode_between(std::string_view text, std::vector<std::int32_t>& ids) const {
    const std::string normalised = vocabulary.normalizer.apply(text);
    const auto add = [&](std::int32_t id) { ids.push_back(id); };
    vocabulary.added.cut(normalised, true, add, [&](std::string_view piece) {
      vocabulary.pre_tokenizer.cut(piece, [&](std::string_view word) { encode_word(word, ids); });
    });
  }

  const std::string* bytes_of(std::int32_t id) const {
    const auto found = vocabulary.bytes.find(id);
    return found == vocabulary.bytes.end() ? nullptr : &found->second;
  }

  void require_in_model(const std::vector<std::int32_t>& ids) const {
    for (const std::int32_t id : ids) {
      if (model_ids && static_cast<std::size_t>(id) >= *model_ids) {
        throw usage_error(
            fmt::format("the token \"{}\" has the id {}, but the model's ids go from 0 to {}",
                        shown(*bytes_of(id)), id, *model_ids - 1),
            "leave it out, or take the model that the tokenizer was extended for");
      }
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
  return Tokenizer(std::move(impl));
}

Tokenizer Tokenizer::none(const Error& why) {
  auto impl = std::make_unique<Impl>();
  impl->none = why;
  return Tokenizer(std::move(impl));
}

const Error* Tokenizer::why_none() const { return impl_->none ? &*impl_->none : nullptr; }

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
  if (impl_->none) {
    throw *impl_->none;
  }
  if (const auto at = invalid_utf8_at(text)) {
    throw usage_error(fmt::format("text isn't UTF-8: invalid at byte {}", *at), "save it as UTF-8");
  }
  std::vector<std::int32_t> ids = impl_->vocabulary.before;
  impl_->vocabulary.added.cut(
      text, false, [&](std::int32_t id) { ids.push_back(id); },
      [&](std::string_view piece) { impl_->encode_between(piece, ids); });
  ids.insert(ids.end(), impl_->vocabulary.after.begin(), impl_->vocabulary.after.end());
  impl_->require_in_model(ids);
  return ids;
}

std::string Tokenizer::token_bytes(std::int32_t id) const {
  if (const std::string* bytes = impl_->bytes_of(id)) {
    return *bytes;
  }
  if (id < 0 || static_cast<std::size_t>(id) >= impl_->model_ids.value_or(0)) {
    throw usage_error(fmt::format("token {}: the vocabulary has no such id", id),
                      fmt::format("ids go from 0 to {}", std::max<std::size_t>(size(), 1) - 1));
  }
  return impl_->none ? fmt::format("[{}]", id) : std::string();
}

std::string Tokenizer::decode(const std::vector<std::int32_t>& ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    text += token_bytes(id);
  }
  return text;
}

std::size_t Tokenizer::size() const {
  return std::max(impl_->vocabulary.size, impl_->model_ids.value_or(0));
}

const std::vector<std::string>& Tokenizer::warnings() const { return impl_->vocabulary.warnings; }

void Tokenizer::fit_to(std::size_t size) { impl_->model_ids = size; }

}  // namespace drift
