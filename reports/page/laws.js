// Violations, and the table of laws: one row a law over all kernels that the filter lets through;
// an opened row shows each kernel and the cases.

function violationsSection(data, filter) {
  if (data.violations.length === 0) return null;
  const place = element('div', {});
  const count = element('p', {class: 'note'});
  let all = false;
  const showAll = () => {
    all = true;
    update();
  };
  const more = element('button', {type: 'button', class: 'plain more', onclick: showAll});
  const update = () => {
    const rows = data.violations.filter((row) => filter.finds(row));
    const shown = all ? rows : rows.slice(0, 5);
    fill(
      place,
      shown.map((row, i) => violationNode(row, i < 2)),
    );
    count.textContent =
      rows.length === data.violations.length ? '' : `${rows.length} of ${data.violations.length}`;
    more.hidden = shown.length === rows.length;
    more.textContent = `Show all ${plural(rows.length, 'violation')}`;
  };
  const made = section('violations', 'Violations', count, place, more);
  filter.whenChanged(update);
  return made;
}

function violationNode(row, open) {
  const block = (title, text) =>
    isGiven(text) ? [element('h3', {}, title), scrollBox(element('pre', {}, text), title)] : null;
  return element(
    'details',
    {class: 'violation', open},
    element(
      'summary',
      {},
      element('code', {}, row.law ?? ''),
      ' ',
      element('span', {class: 'quiet'}, nameText(row.kernel)),
    ),
    block('Found', row.text),
    block('Smallest case of the same violation', row.shrunk_text),
    block('Its tensors', row.values),
    isGiven(row.replay)
      ? element('p', {class: 'replay'}, breakable(row.replay), ' ', copyButton(row.replay))
      : null,
    isGiven(row.saved) ? element('p', {class: 'note'}, 'saved in ', code(row.saved)) : null,
  );
}

const LAW_COUNTS = ['cases', 'ok', 'weak', 'unproven', 'skipped', 'known', 'violations'];

/** The rows of one law added up; the worst one says where. */
function lawRow(law, rows, sentence) {
  const worst = largestBy(rows, (row) => row.worst_ratio) ?? rows[0];
  const counts = Object.fromEntries(
    LAW_COUNTS.map((name) => [name, sumBy(rows, (row) => row[name] ?? 0)]),
  );
  return {
    ...counts,
    law,
    rows,
    sentence,
    values: sumBy(rows, (row) => row.values),
    worst_ratio: worst.worst_ratio,
    worst_kernel: worst.kernel,
    worst_problem: worst.worst_problem,
    worst_replay: worst.worst_replay,
  };
}

/** Broken laws first, then those that could not decide, then as the catalogue has them. */
function lawUrgency(row) {
  return row.violations > 0 ? 0 : row.weak + row.unproven > 0.2 * row.cases ? 1 : 2;
}

class LawRows {
  constructor(data, filter) {
    this.data = data;
    this.filter = filter;
    // It may stand in one row of a law only, which the filter may hide.
    this.sentences = new Map(
      data.laws.filter((row) => isGiven(row.sentence)).map((row) => [row.law, row.sentence]),
    );
    this.casesOf = groupBy(data.cases, (row) => `${row.kernel}\n${row.law}`);
  }

  cases(row) {
    return (this.casesOf.get(`${row.kernel}\n${row.law}`) ?? []).filter((each) =>
      this.filter.finds(each),
    );
  }

  /** A law has no dtype and no mask: its cases answer for it; its counts answer for the status. */
  shows(row) {
    const {dtype, mask, outcome} = this.filter.chosen;
    if (!this.filter.passes(row, ['law', 'kernel'])) return false;
    if (dtype !== '' || mask !== '') return this.cases(row).length > 0;
    if (outcome !== '' && !this.hasOutcome(row, outcome)) return false;
    return this.filter.hasText(row) || this.cases(row).length > 0;
  }

  hasOutcome(row, outcome) {
    if (LAW_COUNTS.includes(outcome)) return row[outcome] > 0;
    return this.cases(row).length > 0 || (outcome === 'fail' && row.violations > 0);
  }

  rows() {
    const shown = groupBy(
      this.data.laws.filter((row) => this.shows(row)),
      (row) => row.law,
    );
    return [...shown]
      .map(([law, rows]) => lawRow(law, rows, this.sentences.get(law)))
      .sort((a, b) => lawUrgency(a) - lawUrgency(b));
  }
}

function lawsSection(data, filter) {
  if (data.laws.length === 0) return section('laws', 'Laws', notMeasured());
  const rows = new LawRows(data, filter);
  const kernels = kernelNames(data).length;
  const table = new Table({
    caption: 'Laws: counts of cases and the largest error against its bound; a row opens its cases',
    columns: lawColumns(kernels > 1),
    rows: [],
    limit: 25,
    openName: (row) => row.law,
    open: (row) => openedLaw(row, rows, kernels),
    rowClass: (row) => (row.violations > 0 ? 'violated' : null),
  });
  const note = element('p', {class: 'note'});
  const made = section('laws', 'Laws', note, table.node);
  filter.whenChanged(() => {
    const shown = rows.rows();
    table.setRows(shown);
    const cases = data.cases.filter((row) => filter.finds(row)).length;
    fill(note, casesNote(data, cases));
    document.getElementById('filter-count').textContent = filter.isActive
      ? `${plural(shown.length, 'law')} and ${plural(cases, 'case')} shown`
      : '';
  });
  return made;
}

function casesNote(data, shown) {
  const total = data.cases_total ?? data.cases.length;
  const kept = data.cases.length;
  const lines = ['A row opens its cases. '];
  if (kept < total) {
    lines.push(
      `This page holds ${countText(kept)} of ${plural(total, 'case')}, the most telling ones; `,
      'run.jsonl holds all. ',
    );
  }
  if (shown !== kept) lines.push(`The filter shows ${countText(shown)}.`);
  return lines;
}

/** A count that is 0 steps back, so that the others are seen. */
function quietZero(value, kind) {
  if (!value) return element('span', {class: 'zero'}, '0');
  return kind ? element('span', {class: `count-${kind}`}, countText(value)) : countText(value);
}

/** err/bound with a bar; the bar is full at the bound. */
function ratioCell(value) {
  if (!isGiven(value)) return NONE;
  const bar = element(
    'span',
    {class: rank(value) > 1 ? 'bar bar-bad' : 'bar', 'aria-hidden': 'true'},
    element('span'),
  );
  bar.firstChild.style.width = `${Math.min(100, 100 * rank(value))}%`;
  return element(
    'span',
    {class: 'ratio'},
    bar,
    element('span', {class: 'ratio-text'}, ratioText(value)),
  );
}

function problemCell(problem, replay) {
  if (!isGiven(problem)) return NONE;
  return element(
    'span',
    {class: 'with-copy'},
    breakable(problem),
    isGiven(replay) ? [' ', copyButton(replay)] : null,
  );
}

const PROBLEM_COLUMN = {
  title: 'problem',
  key: 'problem',
  class: 'at',
  cell: (row) => problemCell(row.problem, row.replay),
};

function lawColumns(manyKernels) {
  const count = (key, kind) => ({
    title: key,
    key,
    number: true,
    cell: (row) => quietZero(row[key], kind),
  });
  return [
    {title: 'property', key: 'law', head: true, cell: (row) => row.law},
    count('cases'),
    count('ok'),
    count('weak', 'unsure'),
    count('unproven', 'unsure'),
    count('skipped'),
    count('known'),
    {...count('violations', 'bad'), title: 'violated'},
    {
      title: 'worst err/bound',
      key: 'worst_ratio',
      number: true,
      cell: (row) => ratioCell(row.worst_ratio),
    },
    {
      title: 'at',
      key: 'worst_problem',
      class: 'at',
      cell: (row) => [
        manyKernels && isGiven(row.worst_problem) ? [nameText(row.worst_kernel), ' '] : null,
        problemCell(row.worst_problem, row.worst_replay),
      ],
    },
  ];
}

function worseFirst(a, b) {
  return b.violations - a.violations || rank(b.worst_ratio ?? 0) - rank(a.worst_ratio ?? 0);
}

function openedLaw(row, rows, kernels) {
  const cases = row.rows
    .flatMap((each) => rows.cases(each))
    .sort((a, b) => caseUrgency(a) - caseUrgency(b) || rank(b.ratio ?? 0) - rank(a.ratio ?? 0));
  const byKernel =
    kernels > 1
      ? new Table({
          caption: `${row.law}: kernels`,
          rows: [...row.rows].sort(worseFirst),
          limit: 30,
          plain: true,
          showCaption: true,
          columns: [{title: 'kernel', key: 'kernel', head: true}, ...lawColumns(false).slice(1)],
        }).node
      : null;
  return [
    isGiven(row.sentence) ? element('p', {class: 'sentence'}, row.sentence) : null,
    byKernel,
    cases.length === 0
      ? element('p', {class: 'not-measured'}, 'no case of this law is kept in this page')
      : new Table({
          caption: `${row.law}: cases`,
          rows: cases,
          limit: 20,
          plain: true,
          showCaption: true,
          columns: caseColumns(kernels > 1),
        }).node,
  ];
}

function caseUrgency(row) {
  return {ok: 3, skipped: 4, weak: 1, unproven: 1, known: 2}[row.outcome] ?? 0;
}

function caseColumns(manyKernels) {
  const columns = [
    {title: 'case', key: 'number', number: true, head: true},
    {title: 'kernel', key: 'kernel'},
    {
      title: 'status',
      key: 'outcome',
      cell: (row) => [
        statusMark(row.outcome),
        isGiven(row.reason) ? element('span', {class: 'case-reason'}, ' ', row.reason) : null,
      ],
    },
    {title: 'err/bound', key: 'ratio', number: true, cell: (row) => ratioCell(row.ratio)},
    PROBLEM_COLUMN,
    {title: 'seconds', key: 'seconds', number: true, cell: (row) => numberText(row.seconds)},
  ];
  return manyKernels ? columns : columns.filter((column) => column.key !== 'kernel');
}
