#include "foreign/problem_json.hpp"

namespace attest::foreign {
namespace {

Json words_json(std::uint64_t bits, std::span<const AbiWord> words) {
  Json list = Json::array();
  for (const AbiWord& one : words)
    if ((bits & one.number) != 0) list.push_back(one.word);
  return list;
}

template <class Number>
Json list_json(const Number* numbers, std::int64_t count) {
  Json list = Json::array();
  for (std::int64_t i = 0; i < count; ++i) list.push_back(numbers[i]);
  return list;
}

/// The members of a problem, as docs/pipe-protocol.md lists them.
class ProblemJson {
 public:
  explicit ProblemJson(const attest_problem& problem) : problem_(problem) {}

  Json write() {
    json_["text"] = problem_.text;
    shape();
    mask();
    terms();
    results();
    storage();
    return std::move(json_);
  }

 private:
  void word(const char* name, std::int32_t number, std::span<const AbiWord> words) {
    json_[name] = word_of(words, static_cast<std::uint64_t>(number));
  }
  void per_member(const char* name, const std::int64_t* numbers) {
    json_[name] = list_json(numbers, problem_.batch);
  }
  void per_pair(const char* name, const double* numbers) {
    if (numbers != nullptr) json_[name] = list_json(numbers, problem_.batch * problem_.heads_kv);
  }

  void shape() {
    json_["batch"] = problem_.batch;
    json_["heads_q"] = problem_.heads_q;
    json_["heads_kv"] = problem_.heads_kv;
    json_["seq_q"] = problem_.seq_q;
    json_["seq_kv"] = problem_.seq_kv;
    json_["head_dim"] = problem_.head_dim;
    json_["head_dim_v"] = problem_.head_dim_v;
    per_member("query_lengths", problem_.query_lengths);
    per_member("key_lengths", problem_.key_lengths);
    word("dtype_q", problem_.dtype_q, kDtypeWords);
    word("dtype_k", problem_.dtype_k, kDtypeWords);
    word("dtype_v", problem_.dtype_v, kDtypeWords);
    word("dtype_out", problem_.dtype_out, kDtypeWords);
    word("dtype_compute", problem_.dtype_compute, kDtypeWords);
    if (problem_.dtype_bias != 0) word("dtype_bias", problem_.dtype_bias, kDtypeWords);
  }
  void mask() {
    const auto bits = static_cast<std::uint64_t>(problem_.mask);
    json_["mask"] = words_json(bits, kMaskWords);
    per_member("diagonal", problem_.diagonal);
    if ((bits & ATTEST_MASK_WINDOW_LEFT) != 0) json_["window_left"] = problem_.window_left;
    if ((bits & ATTEST_MASK_WINDOW_RIGHT) != 0) json_["window_right"] = problem_.window_right;
    if (problem_.keep_first != 0) json_["keep_first"] = problem_.keep_first;
    if (problem_.prefix != 0) json_["prefix"] = problem_.prefix;
    if ((bits & ATTEST_MASK_CHUNK) != 0) json_["chunk"] = problem_.chunk;
    if ((bits & ATTEST_MASK_BLOCKS) != 0) {
      json_["block_q"] = problem_.block_q;
      json_["block_kv"] = problem_.block_kv;
    }
  }
  void terms() {
    json_["scale"] = problem_.scale;
    if (problem_.softcap != 0) json_["softcap"] = problem_.softcap;
    if (problem_.before_softcap != 0)
      json_["before_softcap"] =
          words_json(static_cast<std::uint64_t>(problem_.before_softcap), kBeforeWords);
    if (problem_.alibi != ATTEST_ALIBI_NONE) {
      word("alibi", problem_.alibi, kAlibiWords);
      json_["alibi_slopes"] = list_json(problem_.alibi_slopes, problem_.heads_q);
      per_member("alibi_diagonal", problem_.alibi_diagonal);
    }
    if (problem_.sink != ATTEST_SINK_NONE) {
      word("sink", problem_.sink, kSinkWords);
      json_["sink_in_lse"] = problem_.sink_in_lse != 0;
    }
    if (problem_.qv != 0) json_["qv"] = true;
    if (problem_.v_is_k_view != 0) json_["v_is_k_view"] = true;
    per_pair("descale_q", problem_.descale_q);
    per_pair("descale_k", problem_.descale_k);
    per_pair("descale_v", problem_.descale_v);
  }
  void results() {
    word("all_masked", problem_.all_masked, kEmptyWords);
    if (problem_.empty_lse_any == 0) json_["empty_lse"] = number_json(problem_.empty_lse);
    if (problem_.lse != ATTEST_LSE_NONE) word("lse", problem_.lse, kLseWords);
    if (problem_.asks_gradients != 0) json_["asks_gradients"] = true;
    if (problem_.gradients != 0)
      json_["gradients"] =
          words_json(static_cast<std::uint64_t>(problem_.gradients), kGradientWords);
  }
  void storage() {
    word("layout", problem_.layout, kLayoutWords);
    word("kv", problem_.kv, kKvWords);
    per_member("query_batch", problem_.query_batch);
    per_member("query_row_begin", problem_.query_row_begin);
    per_member("key_batch", problem_.key_batch);
    per_member("key_row_begin", problem_.key_row_begin);
    if (problem_.kv != ATTEST_KV_PAGED) return;
    json_["page_size"] = problem_.page_size;
    json_["pages"] = problem_.pages;
  }

  const attest_problem& problem_;
  Json json_ = Json::object();
};

}  // namespace

Json problem_json(const attest_problem& problem) {
  return ProblemJson(problem).write();
}

Json tiling_json(const attest_tiling& tiling) {
  Json json = Json::object();
  json["tile_q"] = tiling.tile_q;
  json["tile_kv"] = tiling.tile_kv;
  json["splits"] = tiling.splits;
  json["split_bounds"] = list_json(tiling.split_bounds, tiling.splits + 1);
  if (tiling.merge_splits != nullptr)
    json["merge_splits"] = list_json(tiling.merge_splits, tiling.merge_splits_count);
  if (tiling.merge_tiles != nullptr)
    json["merge_tiles"] = list_json(tiling.merge_tiles, tiling.merge_tiles_count);
  return json;
}

}  // namespace attest::foreign
