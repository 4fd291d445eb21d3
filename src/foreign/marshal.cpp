#include "foreign/marshal.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attest/problem_text.hpp"

namespace attest::foreign {
namespace {

const std::int64_t* numbers_or_null(const std::vector<Index>& numbers) {
  static_assert(std::is_same_v<Index, std::int64_t>);
  return numbers.empty() ? nullptr : numbers.data();
}

/// The canonical text without values, which a problem does not have.
std::string text_of(const Problem& problem) {
  std::string text = canonical_text({problem, {}, {}, {}});
  const std::size_t tiling = text.find(" tile=");
  if (tiling != std::string::npos) text.erase(tiling);
  return text;
}

std::vector<std::uint8_t> as_bytes(const std::vector<bool>& bits) {
  return {bits.begin(), bits.end()};
}

/// Offsets of the diagonal with this alignment, a batch member each.
std::vector<std::int64_t> offsets(const Problem& problem, Causal::Alignment alignment) {
  Problem aligned;
  aligned.batch = problem.batch;
  aligned.seq_q = problem.seq_q;
  aligned.seq_kv = problem.seq_kv;
  aligned.query_lengths = problem.query_lengths;
  aligned.key_lengths = problem.key_lengths;
  aligned.mask.causal = Causal{alignment, 0};
  std::vector<std::int64_t> found;
  for (Index b = 0; b < problem.batch; ++b) found.push_back(causal_offset(aligned, b));
  return found;
}

std::int32_t alignment_number(const Mask& mask) {
  if (!mask.causal && !mask.alignment) return ATTEST_ALIGN_NONE;
  switch (mask.causal ? mask.causal->alignment : mask.alignment->alignment) {
    case Causal::Alignment::top_left:
      return ATTEST_ALIGN_TOP_LEFT;
    case Causal::Alignment::bottom_right:
      return ATTEST_ALIGN_BOTTOM_RIGHT;
    case Causal::Alignment::explicit_offset:
      break;
  }
  return ATTEST_ALIGN_OFFSET;
}

std::int32_t mask_bits_of(const Mask& mask) {
  std::int32_t bits = 0;
  const auto add = [&](bool present, std::int32_t bit) { bits |= present ? bit : 0; };
  add(mask.causal.has_value(), ATTEST_MASK_CAUSAL);
  add(mask.window.left.has_value(), ATTEST_MASK_WINDOW_LEFT);
  add(mask.window.right.has_value(), ATTEST_MASK_WINDOW_RIGHT);
  add(mask.chunk.has_value(), ATTEST_MASK_CHUNK);
  add(mask.segments.has_value(), ATTEST_MASK_SEGMENTS);
  add(mask.bits.has_value(), ATTEST_MASK_BITS);
  add(mask.blocks.has_value(), ATTEST_MASK_BLOCKS);
  add(mask.additive.has_value(), ATTEST_MASK_ADDITIVE);
  return bits;
}

std::int32_t alibi_number(const std::optional<Alibi>& alibi) {
  if (!alibi) return ATTEST_ALIBI_NONE;
  switch (alibi->form) {
    case Alibi::Form::absolute:
      return ATTEST_ALIBI_ABSOLUTE;
    case Alibi::Form::relative:
      return ATTEST_ALIBI_RELATIVE;
    case Alibi::Form::column:
      break;
  }
  return ATTEST_ALIBI_COLUMN;
}

std::int32_t policy_number(AllMaskedPolicy policy) {
  switch (policy) {
    case AllMaskedPolicy::zero:
      return ATTEST_EMPTY_ZERO;
    case AllMaskedPolicy::reject:
      return ATTEST_EMPTY_REJECT;
    case AllMaskedPolicy::nan:
      return ATTEST_EMPTY_NAN;
    case AllMaskedPolicy::mean:
      return ATTEST_EMPTY_MEAN;
    case AllMaskedPolicy::any:
      break;
  }
  return ATTEST_EMPTY_ANY;
}

std::int32_t lse_number(LseForm form) {
  switch (form) {
    case LseForm::none:
      return ATTEST_LSE_NONE;
    case LseForm::natural:
      return ATTEST_LSE_LN;
    case LseForm::base_two:
      return ATTEST_LSE_LOG2;
    case LseForm::max_sum:
      break;
  }
  return ATTEST_LSE_MAX_SUM;
}

std::int32_t layout_number(Layout::Order order) {
  switch (order) {
    case Layout::Order::bshd:
      return ATTEST_LAYOUT_BSHD;
    case Layout::Order::bhsd:
      return ATTEST_LAYOUT_BHSD;
    case Layout::Order::sbhd:
      return ATTEST_LAYOUT_SBHD;
    case Layout::Order::thd:
      break;
  }
  return ATTEST_LAYOUT_THD;
}

std::int32_t kv_number(KvStorage::Kind kind) {
  switch (kind) {
    case KvStorage::Kind::dense:
      return ATTEST_KV_ROWS;
    case KvStorage::Kind::left_padded:
      return ATTEST_KV_LEFT_PAD;
    case KvStorage::Kind::paged:
      break;
  }
  return ATTEST_KV_PAGED;
}

std::vector<double> per_head(const std::vector<double>& given, Index pairs) {
  const auto count = static_cast<std::size_t>(pairs);
  return given.size() == count ? given : std::vector<double>(count, given.front());
}

/// The bias along all axes, with strides of 0 along those that it does not have.
ConstTensorRef broadcast(const Problem& problem, ConstTensorRef bias) {
  const Extents full{problem.batch, problem.heads_q, problem.seq_q, problem.seq_kv};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (bias.extents[axis] == 1) bias.strides[axis] = 0;
    bias.extents[axis] = full[axis];
  }
  return bias;
}

CTensor bias_tensor(const Problem& problem, const ConstTensorRef& bias) {
  return problem.bias ? CTensor(broadcast(problem, bias)) : CTensor();
}

}  // namespace

std::int32_t dtype_number(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return ATTEST_F32;
    case Dtype::f64:
      return ATTEST_F64;
    case Dtype::bf16:
      return ATTEST_BF16;
    case Dtype::f16:
      return ATTEST_F16;
    case Dtype::e4m3:
      return ATTEST_E4M3;
    case Dtype::e5m2:
      break;
  }
  return ATTEST_E5M2;
}

CProblem::CProblem(const Problem& problem) : text_(text_of(problem)) {
  c_.size = sizeof c_;
  c_.text = text_.c_str();
  shape(problem);
  mask(problem);
  terms(problem);
  descales(problem);
  results(problem);
  storage(problem);
}

void CProblem::shape(const Problem& problem) {
  c_.batch = problem.batch;
  c_.heads_q = problem.heads_q;
  c_.heads_kv = problem.heads_kv;
  c_.seq_q = problem.seq_q;
  c_.seq_kv = problem.seq_kv;
  c_.head_dim = problem.head_dim;
  c_.head_dim_v = problem.head_dim_v;
  for (Index b = 0; b < problem.batch; ++b) {
    query_lengths_.push_back(problem.query_length(b));
    key_lengths_.push_back(problem.key_length(b));
  }
  c_.query_lengths = query_lengths_.data();
  c_.key_lengths = key_lengths_.data();
  c_.dtype_q = dtype_number(problem.dtype);
  c_.dtype_k = dtype_number(problem.k_dtype());
  c_.dtype_v = dtype_number(problem.v_dtype());
  c_.dtype_out = dtype_number(problem.out_dtype());
  c_.dtype_compute = dtype_number(problem.compute_dtype());
  c_.dtype_bias = problem.bias ? dtype_number(problem.bias_dtype()) : ATTEST_DTYPE_UNSAID;
}

void CProblem::mask(const Problem& problem) {
  const Mask& mask = problem.mask;
  c_.mask = mask_bits_of(mask);
  c_.alignment = alignment_number(mask);
  for (Index b = 0; b < problem.batch; ++b) diagonal_.push_back(mask_offset(problem, b));
  c_.diagonal = diagonal_.data();
  c_.window_left = mask.window.left.value_or(0);
  c_.window_right = mask.window.right.value_or(0);
  c_.keep_first = mask.keep_first;
  c_.prefix = mask.prefix.value_or(0);
  c_.chunk = mask.chunk.value_or(0);
  if (mask.segments) {
    c_.segments_q = numbers_or_null(mask.segments->q);
    c_.segments_k = numbers_or_null(mask.segments->k);
  }
  if (mask.bits) {
    bits_ = as_bytes(mask.bits->visible);
    c_.bits = bits_.data();
    c_.bits_rows = mask.bits->rows;
    c_.bits_columns = mask.bits->columns;
  }
  if (mask.blocks) {
    blocks_ = as_bytes(mask.blocks->visible);
    c_.blocks = blocks_.data();
    c_.block_q = mask.blocks->block_q;
    c_.block_kv = mask.blocks->block_kv;
    c_.block_rows = mask.blocks->rows;
    c_.block_columns = mask.blocks->columns;
  }
  if (mask.additive) {
    c_.additive = mask.additive->value.data();
    c_.additive_rows = mask.additive->rows;
    c_.additive_columns = mask.additive->columns;
  }
}

void CProblem::terms(const Problem& problem) {
  c_.scale = scale_value(problem);
  c_.softcap = problem.softcap;
  c_.before_softcap = (problem.order.bias_before_softcap ? ATTEST_BEFORE_BIAS : 0) |
                      (problem.order.alibi_before_softcap ? ATTEST_BEFORE_ALIBI : 0) |
                      (problem.order.mask_before_softcap ? ATTEST_BEFORE_ADDITIVE : 0);
  if (problem.bias)
    c_.bias_axes = (problem.bias->per_batch ? ATTEST_BIAS_BATCH : 0) |
                   (problem.bias->per_head ? ATTEST_BIAS_HEAD : 0) |
                   (problem.bias->per_query ? ATTEST_BIAS_QUERY : 0);
  c_.alibi = alibi_number(problem.alibi);
  if (problem.alibi) {
    for (Index h = 0; h < problem.heads_q; ++h) slopes_.push_back(alibi_slope(problem, h));
    alibi_diagonal_ = offsets(problem, problem.alibi->alignment);
    c_.alibi_slopes = slopes_.data();
    c_.alibi_diagonal = alibi_diagonal_.data();
  }
  if (problem.sink) {
    c_.sink = problem.sink->zero ? ATTEST_SINK_ZERO : ATTEST_SINK_TENSOR;
    c_.sink_in_lse = problem.sink->in_lse ? 1 : 0;
  }
  c_.qv = problem.qv ? 1 : 0;
  c_.v_is_k_view = problem.v_is_k_view ? 1 : 0;
}

void CProblem::descales(const Problem& problem) {
  if (!problem.descales) return;
  const Index pairs = problem.batch * problem.heads_kv;
  descale_q_ = per_head(problem.descales->q, pairs);
  descale_k_ = per_head(problem.descales->k, pairs);
  descale_v_ = per_head(problem.descales->v, pairs);
  c_.descale_q = descale_q_.data();
  c_.descale_k = descale_k_.data();
  c_.descale_v = descale_v_.data();
}

void CProblem::results(const Problem& problem) {
  c_.all_masked = policy_number(problem.all_masked);
  c_.empty_lse = problem.empty_lse.value_or(-std::numeric_limits<double>::infinity());
  c_.empty_lse_any = problem.empty_lse ? 0 : 1;
  c_.lse = lse_number(problem.lse);
  if (!problem.backward) return;
  c_.asks_gradients = 1;
  c_.gradients = (problem.backward->dbias ? ATTEST_GRADIENT_DBIAS : 0) |
                 (problem.backward->dsink ? ATTEST_GRADIENT_DSINK : 0) |
                 (problem.backward->dlse ? ATTEST_GRADIENT_DLSE : 0);
}

void CProblem::storage(const Problem& problem) {
  c_.layout = layout_number(problem.layout.order);
  c_.kv = kv_number(problem.kv.kind);
  const bool paged = problem.kv.kind == KvStorage::Kind::paged;
  for (Index b = 0; b < problem.batch; ++b) {
    const StoredRow query = stored_query(problem, b, 0);
    const StoredRow key = paged ? StoredRow{b, 0} : stored_key(problem, b, 0);
    query_batch_.push_back(query.b);
    query_row_begin_.push_back(query.row);
    key_batch_.push_back(key.b);
    key_row_begin_.push_back(key.row);
  }
  c_.query_batch = query_batch_.data();
  c_.query_row_begin = query_row_begin_.data();
  c_.key_batch = key_batch_.data();
  c_.key_row_begin = key_row_begin_.data();
  if (!paged) return;
  c_.page_size = problem.kv.page_size;
  c_.pages = problem.kv.pages;
  std::size_t columns = 0;
  for (const auto& pages : problem.kv.page_table) columns = std::max(columns, pages.size());
  for (const auto& pages : problem.kv.page_table) {
    page_table_.insert(page_table_.end(), pages.begin(), pages.end());
    page_table_.resize(page_table_.size() + columns - pages.size(), -1);
  }
  c_.page_table = page_table_.data();
  c_.page_table_columns = static_cast<Index>(columns);
}

CTiling::CTiling(const Problem& problem, const Tiling& tiling, bool with_tiles) {
  c_.size = sizeof c_;
  c_.tile_q = tiling.tile_q;
  c_.tile_kv = tiling.tile_kv;
  const std::vector<KeyRange> splits = split_ranges(tiling, problem.seq_kv);
  for (const KeyRange split : splits) bounds_.push_back(split.begin);
  bounds_.push_back(problem.seq_kv);
  c_.splits = static_cast<Index>(splits.size());
  c_.split_bounds = bounds_.data();
  const auto tree = [&](Index leaves, MergeTree& kept, const std::int64_t*& steps,
                        std::int64_t& count) {
    Result<MergeTree> made = make_merge_tree(tiling.merge, leaves);
    if (!made.ok()) return;
    kept = std::move(made).value();
    steps = numbers_or_null(kept.steps);
    count = static_cast<Index>(kept.steps.size());
  };
  tree(c_.splits, of_splits_, c_.merge_splits, c_.merge_splits_count);
  if (with_tiles)
    tree(static_cast<Index>(all_tiles(tiling, problem.seq_kv).size()), of_tiles_, c_.merge_tiles,
         c_.merge_tiles_count);
}

CTensor::CTensor(void* data, Dtype dtype, const Extents& extents, const Strides& strides)
    : exists_(data != nullptr || extents != Extents{}) {
  c_.size = sizeof c_;
  c_.data = data;
  c_.dtype = dtype_number(dtype);
  std::copy(extents.begin(), extents.end(), c_.extents);
  std::copy(strides.begin(), strides.end(), c_.strides);
}

CForward::CForward(const Problem& problem, const ForwardViews& views)
    : q_(views.q),
      k_(views.k),
      v_(views.v),
      out_(views.out),
      lse_(problem.lse == LseForm::none ? CTensor() : CTensor(views.lse)),
      bias_(bias_tensor(problem, views.bias)),
      sink_(views.sink),
      qv_(views.qv),
      c_{sizeof c_,  q_.get(),    k_.get(),    v_.get(), out_.get(),
         lse_.get(), bias_.get(), sink_.get(), qv_.get()} {}

CBackward::CBackward(const Problem& problem, const BackwardViews& views)
    : q_(views.q),
      k_(views.k),
      v_(views.v),
      out_(views.out),
      lse_(views.lse),
      dout_(views.dout),
      dlse_(views.dlse),
      bias_(bias_tensor(problem, views.bias)),
      sink_(views.sink),
      dq_(views.dq),
      dk_(views.dk),
      dv_(views.dv),
      dbias_(views.dbias),
      dsink_(views.dsink),
      c_{sizeof c_,  q_.get(),    k_.get(),    v_.get(),     out_.get(),
         lse_.get(), dout_.get(), dlse_.get(), bias_.get(),  sink_.get(),
         dq_.get(),  dk_.get(),   dv_.get(),   dbias_.get(), dsink_.get()} {}

}  // namespace attest::foreign
