#include "tensors/npy_header.hpp"

#include <charconv>
#include <set>
#include <system_error>
#include <utility>

#include "tensors/message.hpp"

namespace attest::tensors {
namespace {

/// Reads the few forms of Python that a header has: a dict of a string, a bool and a tuple.
class NpyHeaderParser {
 public:
  NpyHeaderParser(std::string_view text, Index offset, std::string_view file_name)
      : text_(text), offset_(offset), file_name_(file_name) {}

  Result<NpyHeader> parse() {
    if (!parse_dict()) return status_;
    return std::move(header_);
  }

 private:
  bool fail(std::size_t at, const std::string& what) {
    status_ = located(file_name_, offset_ + static_cast<Index>(at), what);
    return false;
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool accept(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool expect(char wanted) {
    if (accept(wanted)) return true;
    return fail(at_, std::string("the header needs ") + wanted + " here");
  }

  bool parse_dict() {
    if (!accept('{')) return fail(at_, "the header is not a dict: it must begin with {");
    while (!accept('}')) {
      if (!parse_entry()) return false;
      if (accept(',')) continue;
      if (!accept('}')) return fail(at_, "the header needs , or } here");
      break;
    }
    skip_blanks();
    if (at_ < text_.size()) return fail(at_, "the header goes on behind its dict");
    for (const char* key : {"descr", "fortran_order", "shape"})
      if (!seen_.contains(key)) return fail(0, std::string("the header has no ") + key);
    return true;
  }

  bool parse_entry() {
    skip_blanks();
    const std::size_t key_at = at_;
    std::string key;
    if (!parse_string(key, "a key")) return false;
    if (key != "descr" && key != "fortran_order" && key != "shape")
      return fail(key_at, "unknown key " + in_quotes(key));
    if (!seen_.insert(key).second) return fail(key_at, "duplicate key " + in_quotes(key));
    if (!expect(':')) return false;
    skip_blanks();
    if (key == "shape") return parse_shape();
    if (key == "fortran_order") return parse_bool();
    header_.descr_offset = offset_ + static_cast<Index>(at_);
    return parse_string(header_.descr, "descr");
  }

  bool parse_string(std::string& value, const char* what) {
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return fail(at_, std::string(what) + " must be a string");
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return fail(at_, "a string does not end");
    value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }

  bool parse_bool() {
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}})
      if (text_.substr(at_).starts_with(word)) {
        header_.fortran_order = value;
        at_ += std::string_view(word).size();
        return true;
      }
    return fail(at_, "fortran_order must be True or False");
  }

  bool parse_shape() {
    header_.shape_offset = offset_ + static_cast<Index>(at_);
    if (!accept('(')) return fail(at_, "shape must be a tuple");
    while (!accept(')')) {
      if (!parse_extent()) return false;
      if (accept(',')) continue;
      if (!accept(')')) return fail(at_, "shape needs , or ) here");
      break;
    }
    return true;
  }

  bool parse_extent() {
    skip_blanks();
    Index extent = 0;
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(begin, end, extent);
    if (error != std::errc{} || extent < 0)
      return fail(at_, "shape must hold integers from 0 to 2^63 - 1");
    if (header_.shape.size() == kMaxNpyRank)
      return fail(at_, "shape has more than " + std::to_string(kMaxNpyRank) + " extents");
    header_.shape.push_back(extent);
    at_ += static_cast<std::size_t>(stop - begin);
    return true;
  }

  std::string_view text_;
  Index offset_;
  std::string_view file_name_;
  std::size_t at_ = 0;
  std::set<std::string> seen_;
  NpyHeader header_;
  Status status_;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text, Index offset,
                                   std::string_view file_name) {
  return NpyHeaderParser(text, offset, file_name).parse();
}

}  // namespace attest::tensors
