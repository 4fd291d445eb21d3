// The events of a safetensors header's JSON, checked one by one; internal to this room, and apart
// from safetensors_header.hpp so that only its body includes nlohmann's parser.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensors/message.hpp"
#include "tensors/safetensors_header.hpp"

namespace attest::tensors {

/// Tells the handler how far the lexer has read: nlohmann's SAX events carry no offset.
class TrackedCharacters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackedCharacters(const char* at, const char** read_to) : at_(at), read_to_(read_to) {}

  reference operator*() const { return *at_; }
  TrackedCharacters& operator++() {
    *read_to_ = ++at_;
    return *this;
  }
  TrackedCharacters operator++(int) {
    TrackedCharacters before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const TrackedCharacters& left, const TrackedCharacters& right) {
    return left.at_ == right.at_;
  }

 private:
  const char* at_;
  const char** read_to_;
};

/// Takes the events of the JSON parser, which keeps no recursion, and stops it at the first value
/// that the format does not have at that place: so no input nests deeper than 3 levels.
class HeaderHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderHandler(std::string_view text, std::string_view file_name)
      : file_name_(file_name), begin_(text.data()), event_end_(begin_), read_to_(begin_) {}

  const char** read_to() { return &read_to_; }
  Status status() const { return status_; }
  Header take() { return std::move(header_); }

  bool null() override { return wrong_type("null"); }
  bool boolean(bool /*value*/) override { return wrong_type("a boolean"); }
  bool binary(binary_t& /*value*/) override { return wrong_type("binary data"); }
  bool number_integer(number_integer_t /*value*/) override {
    return wrong_type("a negative number");
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return wrong_type("the number " + printable(text));
  }

  bool number_unsigned(number_unsigned_t value) override {
    if ((place_ != Place::shape && place_ != Place::data_offsets) ||
        value > static_cast<number_unsigned_t>(std::numeric_limits<Index>::max()))
      return wrong_type("the number " + std::to_string(value));
    locate();
    if (place_ == Place::shape) {
      entry_.shape.push_back(static_cast<Index>(value));
      return true;
    }
    if (data_offsets_.size() == 2) return fail(token_, data_offsets_count());
    data_offsets_.push_back(static_cast<Index>(value));
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      locate();
      header_.metadata[key_] = std::move(value);
      return true;
    }
    if (place_ != Place::tensor || key_ != "dtype") return wrong_type("a string");
    locate();
    const std::optional<Dtype> dtype = dtype_of_name(value);
    if (!dtype)
      return fail(token_, tensor_label() + ": dtype " + in_quotes(value) +
                              " is not supported; supported are" + supported_dtypes());
    entry_.dtype = *dtype;
    return true;
  }

  bool start_object(std::size_t /*elements*/) override {
    if (place_ == Place::outside) {
      locate();
      place_ = Place::top;
      return true;
    }
    if (place_ != Place::top) return wrong_type("an object");
    locate();
    place_ = key_ == kMetadataKey ? Place::metadata : Place::tensor;
    entry_ = {};
    entry_.name = key_;
    entry_.name_offset = key_offset_;
    fields_.clear();
    data_offsets_.clear();
    return true;
  }

  bool key(string_t& name) override {
    locate();
    bool duplicate = false;
    switch (place_) {
      case Place::top:
        duplicate = !names_.insert(name).second;
        break;
      case Place::metadata:
        duplicate = header_.metadata.contains(name);
        break;
      default:
        if (name != "dtype" && name != "shape" && name != "data_offsets")
          return fail(token_, tensor_label() + ": unknown key " + in_quotes(name));
        duplicate = !fields_.insert(name).second;
    }
    if (duplicate) return fail(token_, "duplicate key " + in_quotes(name));
    key_ = std::move(name);
    key_offset_ = token_;
    return true;
  }

  bool end_object() override {
    locate();
    if (place_ == Place::tensor && !finish_tensor()) return false;
    place_ = place_ == Place::top ? Place::outside : Place::top;
    return true;
  }

  bool start_array(std::size_t /*elements*/) override {
    if (place_ != Place::tensor || key_ == "dtype") return wrong_type("an array");
    locate();
    place_ = key_ == "shape" ? Place::shape : Place::data_offsets;
    return true;
  }

  bool end_array() override {
    locate();
    if (place_ == Place::data_offsets && data_offsets_.size() != 2)
      return fail(key_offset_, data_offsets_count());
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::json::exception& error) override {
    std::string_view reason = error.what();
    // "[json.exception...] parse error at line 1, column 9: reason"; the line means nothing here.
    reason.remove_prefix(std::min(reason.size(), reason.find("] ") + 2));
    if (reason.starts_with("parse error at ")) reason.remove_prefix(reason.find(": ") + 2);
    const auto read = static_cast<Index>(position);
    return fail(kLengthFieldBytes + std::max<Index>(read - 1, 0),
                "the header is not JSON: " + printable(reason));
  }

 private:
  enum class Place { outside, top, metadata, tensor, shape, data_offsets };

  bool fail(Index offset, const std::string& what) {
    status_ = located(file_name_, offset, what);
    return false;
  }

  /// Sets token_ to where the token of this event starts. After a number the lexer has read one
  /// more character; that is a separator or bracket, never part of a token that messages point to.
  void locate() {
    constexpr std::string_view kBetweenTokens = " \t\r\n,:";
    const char* at = event_end_;
    while (at < read_to_ && kBetweenTokens.find(*at) != std::string_view::npos) ++at;
    token_ = kLengthFieldBytes + static_cast<Index>(at - begin_);
    event_end_ = read_to_;
  }

  static std::string supported_dtypes() {
    std::string names;
    for (const Dtype dtype : kDtypes) names += " " + std::string(format_name(dtype));
    return names;
  }
  std::string tensor_label() const { return "tensor " + in_quotes(entry_.name); }
  std::string data_offsets_count() const {
    return tensor_label() + ": data_offsets must hold 2 numbers";
  }

  bool wrong_type(const std::string& kind) {
    locate();
    std::string expected;
    switch (place_) {
      case Place::outside:
        expected = "the header must be an object";
        break;
      case Place::top:
        expected = key_ == kMetadataKey ? key_ : "tensor " + in_quotes(key_);
        expected += " must be an object";
        break;
      case Place::metadata:
        expected = std::string(kMetadataKey) + " " + in_quotes(key_) + " must be a string";
        break;
      case Place::tensor:
        expected = tensor_label() + ": " + key_ + " must be " +
                   (key_ == "dtype" ? "a string" : "an array of integers");
        break;
      case Place::shape:
      case Place::data_offsets:
        expected = tensor_label() + ": " + key_ + " must hold integers from 0 to 2^63 - 1";
        break;
    }
    return fail(token_, expected + ", not " + kind);
  }

  bool finish_tensor() {
    const auto wrong = [this](const std::string& what) {
      return fail(entry_.name_offset, tensor_label() + ": " + what);
    };
    for (const char* field : {"dtype", "shape", "data_offsets"})
      if (!fields_.contains(field)) return wrong(std::string("no ") + field);
    entry_.begin = data_offsets_.front();
    entry_.end = data_offsets_.back();
    if (entry_.begin > entry_.end)
      return wrong("data_offsets [" + std::to_string(entry_.begin) + ", " +
                   std::to_string(entry_.end) + "] are reversed");
    const std::optional<Index> bytes = byte_size(entry_.dtype, entry_.shape);
    if (!bytes) return wrong("shape " + shape_text(entry_.shape) + " has 2^63 bytes or more");
    if (*bytes != entry_.end - entry_.begin)
      return wrong("shape " + shape_text(entry_.shape) + " takes " + std::to_string(*bytes) +
                   " bytes, data_offsets span " + std::to_string(entry_.end - entry_.begin));
    header_.entries.push_back(std::move(entry_));
    return true;
  }

  std::string_view file_name_;
  const char* begin_;
  const char* event_end_;
  const char* read_to_;
  Index token_ = kLengthFieldBytes;
  Status status_;
  Place place_ = Place::outside;
  std::string key_;
  Index key_offset_ = kLengthFieldBytes;
  HeaderEntry entry_;
  std::set<std::string> fields_;
  std::vector<Index> data_offsets_;
  std::set<std::string> names_;
  Header header_;
};

}  // namespace attest::tensors
