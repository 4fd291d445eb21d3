#include "foreign/description_json.hpp"

#include <algorithm>
#include <cstring>

#include "foreign/message_json.hpp"

namespace attest::foreign {
namespace {

/// Members of a struct, one after the other: the same list writes and reads.
class Writer {
 public:
  template <class Number>
  void word(const char* name, const Number& number, std::span<const AbiWord> words) {
    const std::string_view found = word_of(words, static_cast<std::uint64_t>(number));
    if (number != 0 && !found.empty()) json_[name] = found;
  }
  template <class Number>
  void integer(const char* name, const Number& number) {
    if (number != 0) json_[name] = number;
  }
  void number(const char* name, double number) {
    if (number != 0 && std::isfinite(number)) json_[name] = number;
  }
  void flag(const char* name, std::int32_t flag) {
    if (flag != 0) json_[name] = true;
  }
  template <std::size_t kSize>
  void text(const char* name, const char (&text)[kSize]) {
    const std::string_view whole(text, ::strnlen(text, kSize));
    if (!whole.empty()) json_[name] = whole;
  }
  Json take() { return std::move(json_); }

 private:
  Json json_ = Json::object();
};

class Reader {
 public:
  explicit Reader(Members& members) : members_(members) {}

  template <class Number>
  void word(const char* name, Number& number, std::span<const AbiWord> words) {
    number = static_cast<Number>(members_.word(name, words));
  }
  template <class Number>
  void integer(const char* name, Number& number) {
    const std::int64_t whole = members_.integer(name);
    number = static_cast<Number>(whole);
    if (number != whole) members_.refuse(name, "is too large");
  }
  void number(const char* name, double& number) { number = members_.number(name); }
  void flag(const char* name, std::int32_t& flag) { flag = members_.flag(name) ? 1 : 0; }
  template <std::size_t kSize>
  void text(const char* name, char (&text)[kSize]) {
    const std::string whole = members_.text(name);
    if (whole.size() >= kSize)
      members_.refuse(name, "has more than " + std::to_string(kSize - 1) + " characters");
    else
      std::memcpy(text, whole.c_str(), whole.size() + 1);
  }

 private:
  Members& members_;
};

template <class Visitor, class Accuracy>
void visit_accuracy(Visitor& visitor, Accuracy& of) {
  visitor.word("accumulators", of.accumulators, kFormatWords);
  visitor.word("rounding", of.rounding, kRoundingWords);
  visitor.word("dot_accumulators", of.dot_accumulators, kFormatWords);
  visitor.word("scaled_query", of.scaled_query, kFormatWords);
  visitor.word("weights", of.weights, kFormatWords);
  visitor.integer("weights_log2", of.weights_log2);
  visitor.flag("sums_rounded", of.sums_rounded);
  visitor.word("underflow", of.underflow, kUnderflowWords);
  visitor.word("exp_form", of.exp_form, kExpWords);
  visitor.word("scope", of.scope, kScopeWords);
  visitor.flag("ordered_sums", of.ordered_sums);
  visitor.integer("dot_roundings", of.dot_roundings);
  visitor.integer("own_tile_kv", of.own_tile_kv);
  visitor.number("lag_log2", of.lag_log2);
  visitor.number("exp_ulp", of.exp_ulp);
  visitor.number("log_ulp", of.log_ulp);
  visitor.number("tanh_ulp", of.tanh_ulp);
  visitor.number("division_ulp", of.division_ulp);
  visitor.number("alibi_ulp", of.alibi_ulp);
  visitor.number("descale_ulp", of.descale_ulp);
  visitor.word("gradient_weights", of.gradient_weights, kFormatWords);
  visitor.word("score_gradients", of.score_gradients, kFormatWords);
}

template <class Visitor, class OfKernel>
void visit_description(Visitor& visitor, OfKernel& of) {
  visitor.text("name", of.name);
  visitor.text("version", of.version);
  visitor.text("summary", of.summary);
  visitor.word("lse_base", of.lse_base, kBaseWords);
  visitor.word("empty_lse", of.empty_lse, kEmptyLseWords);
  visitor.word("reproducible", of.reproducible, kReproducibleWords);
  visitor.word("part_form", of.part_form, kPartWords);
  visitor.integer("leaf", of.leaf);
  visitor.integer("tile_q", of.tile_q);
  visitor.integer("tile_kv", of.tile_kv);
  visitor.integer("splits", of.splits);
}

/// Beside the features that are bits.
constexpr std::uint64_t kPartialCall = 1;
constexpr std::uint64_t kMergeCall = 2;
constexpr std::uint64_t kAccuracyCall = 4;
constexpr std::array kCallWords{AbiWord{"partial", kPartialCall}, AbiWord{"merge", kMergeCall},
                                AbiWord{"accuracy", kAccuracyCall}};

/// What is known of a struct that may be shorter or longer than ours.
template <class Struct>
Struct known_part(const Struct& of) {
  Struct copy{};
  std::memcpy(&copy, &of, std::min<std::size_t>(of.size, sizeof copy));
  copy.size = sizeof copy;
  return copy;
}

Json accuracy_json(const attest_accuracy& accuracy) {
  const attest_accuracy known = known_part(accuracy);
  Writer writer;
  visit_accuracy(writer, known);
  return writer.take();
}

Result<attest_accuracy> read_accuracy(const Json& json) {
  attest_accuracy accuracy{};
  accuracy.size = sizeof accuracy;
  Members members(json, "accuracy");
  Reader reader(members);
  visit_accuracy(reader, accuracy);
  if (!members.status().ok()) return members.status();
  return accuracy;
}

void read_features(Members& members, Description& description) {
  std::vector<AbiWord> words(kFeatureWords.begin(), kFeatureWords.end());
  // Bits of features are all below 2^63, so these cannot be mistaken for one.
  constexpr std::uint64_t kCall = std::uint64_t{1} << 63;
  for (const AbiWord& call : kCallWords) words.push_back({call.word, kCall | call.number});
  members.each_word("features", words, [&](std::uint64_t number) {
    if ((number & kCall) == 0) {
      description.says.features |= number;
      return;
    }
    description.calls.partial |= (number & kPartialCall) != 0;
    description.calls.merge |= (number & kMergeCall) != 0;
    description.calls.accuracy |= (number & kAccuracyCall) != 0;
  });
}

}  // namespace

std::string description_text(const attest_description& description, const OptionalCalls& calls) {
  const attest_description known = known_part(description);
  Writer writer;
  visit_description(writer, known);
  Json json = writer.take();
  json["dtypes"] = Json::array();
  for (const AbiWord& one : kDtypeWords)
    if ((known.dtypes & ATTEST_BIT(one.number)) != 0) json["dtypes"].push_back(one.word);
  json["features"] = Json::array();
  for (const AbiWord& one : kFeatureWords)
    if ((known.features & one.number) != 0) json["features"].push_back(one.word);
  for (const AbiWord& one : kCallWords)
    if ((one.number == kPartialCall && calls.partial) ||
        (one.number == kMergeCall && calls.merge) ||
        (one.number == kAccuracyCall && calls.accuracy))
      json["features"].push_back(one.word);
  if (known.accuracy != nullptr) json["accuracy"] = accuracy_json(*known.accuracy);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string accuracy_text(const attest_accuracy& accuracy) {
  return accuracy_json(accuracy).dump();
}

Result<Description> parse_description(std::string_view text) {
  const Result<Json> json = parse_line(text);
  if (!json.ok()) return json.status();
  Description description;
  description.says.size = sizeof description.says;
  Members members(json.value(), "description");
  Reader reader(members);
  visit_description(reader, description.says);
  read_features(members, description);
  members.each_word("dtypes", kDtypeWords,
                    [&](std::uint64_t number) { description.says.dtypes |= ATTEST_BIT(number); });
  if (description.says.name[0] == 0) members.refuse("name", "is missing");
  if (description.says.dtypes == 0) members.refuse("dtypes", "names no type");
  const Json* const accuracy = members.object("accuracy");
  if (!members.status().ok()) return members.status();
  if (accuracy == nullptr) return description;
  const Result<attest_accuracy> read = read_accuracy(*accuracy);
  if (!read.ok()) return read.status();
  description.accuracy = read.value();
  description.has_accuracy = true;
  return description;
}

Result<attest_accuracy> parse_accuracy(std::string_view text) {
  const Result<Json> json = parse_line(text);
  if (!json.ok()) return json.status();
  return read_accuracy(json.value());
}

}  // namespace attest::foreign
