// A case without some of the parts of its problem: for laws that such a part would break, and for
// moves that need a plainer form.
#pragma once

#include "properties/case.hpp"

namespace attest::properties {

/// Without the gradients that it asks for.
Case forward_only(Case from);

/// Rows, keys and pages in dense bshd; v stays a view of k.
Case dense_rows_and_keys(Case from);

/// Rows, keys and pages in dense bshd, and v in memory of its own.
Case densely_stored(Case from);

/// Whether some slot of a paged cache is a key of two batch members.
bool shares_pages(const Problem& problem);

/// Densely stored if batch members share pages: their keys could not be changed one by one.
Case with_own_keys(Case from);

/// Policy `zero` instead of what does not add or compare: nan, mean, any.
Case plain_empty_rows(Case from);

/// Without softcap.
Case without_softcap(Case from);
/// Without a sink.
Case without_sink(Case from);
/// Without the term qv . v.
Case without_qv(Case from);
/// Without descales: the stored numbers count.
Case without_descales(Case from);
/// Without what is added to scores; what an additive mask excludes stays excluded.
Case without_addends(Case from);
/// Scores are scale * (q . k): none of softcap, qv, addends, sink.
Case plain_scores(Case from);

/// Without what spelled_out would have to round: a sum of two additions, or ALiBi.
Case exactly_spellable(Case from);

/// One batch member: mask as bits; bias, ALiBi and the finite numbers of an additive mask as one
/// bias of the compute dtype, per head and query; densely stored, forward only, plain empty rows.
/// What is added is rounded, so that this may be another (well-defined) case, unless `from` was
/// exactly spellable; additions on different sides of the softcap all come after it.
/// Precondition: batch is 1, without lengths.
Case spelled_out(Case from);

}  // namespace attest::properties
