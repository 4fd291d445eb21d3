// The same numbers over runs, and which of them got worse.

const REGRESSION_RATIO = 1.25;
const REGRESSION_RMS = 1.1;

/** One step of one kernel from a run to the next: what changed and what of it is a regression. */
function stepOf(before, now) {
  const growth = (name) => toNumber(now[name]) / toNumber(before[name]);
  const regressions = [];
  if ((now.violations ?? 0) > (before.violations ?? 0)) {
    regressions.push(plural(now.violations - (before.violations ?? 0), 'new violation'));
  }
  if (growth('worst_ratio') > REGRESSION_RATIO)
    regressions.push(`err/bound ${changeText(before.worst_ratio, now.worst_ratio)}`);
  if (growth('rms_ulp') > REGRESSION_RMS)
    regressions.push(`rms error ${changeText(before.rms_ulp, now.rms_ulp)}`);
  return {before, now, change: growth('worst_ratio') - 1, regressions};
}

/** Some runs have no name but their time. */
function runLabel(run) {
  return isGiven(run.label) && run.label !== run.started ? run.label : dateText(run.started);
}

/** The history of each kernel in the order of time, with the step that led to each run. */
function kernelHistories(history) {
  const kernels = groupBy(history, (run) => run.kernel ?? '');
  return [...kernels].map(([kernel, runs]) => {
    const ordered = [...runs].sort((a, b) => byName(a.started ?? '', b.started ?? ''));
    return {
      kernel,
      runs: ordered.map((run, i) => ({...run, step: i > 0 ? stepOf(ordered[i - 1], run) : null})),
    };
  });
}

/** The step to the last run, of every kernel that has two. */
function lastSteps(data) {
  return kernelHistories(data.history)
    .map(({runs}) => runs[runs.length - 1].step)
    .filter((step) => step !== null);
}

function historySection(data, filter) {
  if (data.history.length === 0) return section('history', 'History', notMeasured());
  const histories = kernelHistories(data.history);
  const runs = distinct(data.history.map((run) => run.started ?? ''));
  const place = plotPlace(240);
  const legendPlace = element('div', {});
  const table = new Table({
    caption: 'History: one row a run and kernel, the newest first',
    rows: [],
    limit: 30,
    columns: historyColumns(histories.length > 1),
    rowClass: (row) => (row.step?.regressions.length > 0 ? 'violated' : null),
  });
  const figure = plotFigure([
    legendPlace,
    place,
    element(
      'figcaption',
      {},
      'Largest err/bound of each run. A regression is a new violation, an err/bound more than ',
      `${Math.round(100 * (REGRESSION_RATIO - 1))} % or an rms error more than ${Math.round(100 * (REGRESSION_RMS - 1))} % above that of the run before.`,
    ),
  ]);
  const made = section('history', 'History', figure, table.node);
  filter.whenChanged(() => {
    const shown = histories.filter((history) => filter.passes(history, ['kernel']));
    table.setRows(
      shown
        .flatMap((history) => [...history.runs].reverse())
        .sort((a, b) => byName(b.started ?? '', a.started ?? '')),
    );
    fill(legendPlace, historyLegend(shown.length));
    drawSoon(place, () =>
      draw(place, historySpec(shown, runs), 'Largest error against its bound over the runs'),
    );
  });
  return made;
}

/** More lines than this are a tangle; then they step back behind the worst of each run. */
const DISTINCT_HISTORIES = 6;

function historyLegend(kernels) {
  const line =
    kernels > DISTINCT_HISTORIES
      ? [
          {name: 'worst of all kernels', color: 'var(--accent)', shape: 'line'},
          {name: 'one kernel', color: 'var(--line)', shape: 'line'},
        ]
      : [{name: 'a run; one line a kernel', color: 'var(--accent)', shape: 'circle'}];
  return legend([...line, {name: 'regression', color: 'var(--bad)', shape: 'triangle-up'}]);
}

function historyColumns(manyKernels) {
  const columns = [
    {title: 'run', key: 'label', head: true, cell: (row) => runLabel(row)},
    {
      title: 'started',
      key: 'started',
      cell: (row) => element('span', {class: 'nowrap'}, dateText(row.started)),
    },
    {title: 'kernel', key: 'kernel'},
    {
      title: 'worst err/bound',
      key: 'worst_ratio',
      number: true,
      cell: (row) => ratioCell(row.worst_ratio),
    },
    {
      title: 'change',
      read: (row) => row.step?.change,
      number: true,
      cell: (row) => (row.step ? changeText(row.step.before.worst_ratio, row.worst_ratio) : NONE),
    },
    {title: 'rms ulp', key: 'rms_ulp', number: true, cell: (row) => memberText(row, 'rms_ulp')},
    {
      title: 'violated',
      key: 'violations',
      number: true,
      cell: (row) => quietZero(row.violations, 'bad'),
    },
    {title: 'cases', key: 'cases', number: true, cell: (row) => countText(row.cases)},
    {
      title: 'regression',
      read: (row) => row.step?.regressions.length ?? 0,
      cell: (row) =>
        row.step?.regressions.length > 0
          ? element('span', {class: 'count-bad'}, '\u25B2 ', row.step.regressions.join('; '))
          : NONE,
    },
    {title: 'git', key: 'git', cell: (row) => code(row.git)},
  ];
  return manyKernels ? columns : columns.filter((column) => column.key !== 'kernel');
}

function historyPoints(histories) {
  return histories.flatMap(({kernel, runs}) =>
    runs
      .filter((run) => rank(run.worst_ratio) > 0)
      .map((run) => {
        const isRegression = run.step?.regressions.length > 0;
        const isQuiet = histories.length > DISTINCT_HISTORIES;
        return {
          kernel,
          x: run.started ?? '',
          y: rank(run.worst_ratio),
          isRegression,
          line: isQuiet ? 'var(--line)' : 'var(--accent)',
          color: isRegression ? 'var(--bad)' : isQuiet ? 'var(--quiet)' : 'var(--accent)',
          shape: isRegression ? 'triangle-up' : 'circle',
          size: isRegression ? 110 : isQuiet ? 12 : 46,
          tip: [
            `${kernel}  ${runLabel(run)}`,
            dateText(run.started),
            `err/bound ${ratioText(run.worst_ratio)}`,
            ...(run.step?.regressions ?? []),
          ],
        };
      }),
  );
}

/** Of each run the worst kernel, where lines of single kernels are many. */
function worstOfRuns(points, kernels) {
  if (kernels <= DISTINCT_HISTORIES) return [];
  return [...groupBy(points, (point) => point.x).values()]
    .map((group) => largestBy(group, (point) => point.y))
    .map((point) => ({...point, kernel: 'all', line: 'var(--accent)'}))
    .sort((a, b) => byName(a.x, b.x));
}

function historySpec(histories, runs) {
  const raw = historyPoints(histories);
  const [low, high] = positiveRange(
    raw.map((point) => point.y),
    [0.1, 1],
  );
  const top = Math.max(1.5, high * 1.5);
  const bottom = Math.min(low / 1.5, 0.5);
  const points = raw.map((point) => ({...point, y: Math.min(point.y, top)}));
  const labels = Object.fromEntries(
    histories.flatMap(({runs: all}) => all.map((run) => [run.started ?? '', runLabel(run)])),
  );
  return {
    height: 240,
    data: [
      {name: 'points', values: points},
      {name: 'worst', values: worstOfRuns(points, histories.length)},
    ],
    scales: [
      {name: 'x', type: 'point', domain: runs, range: 'width', padding: 0.5},
      {name: 'label', type: 'ordinal', domain: runs, range: runs.map((run) => labels[run] ?? run)},
      {name: 'y', type: 'log', domain: [bottom, top], range: 'height'},
    ],
    axes: [
      axis('left', 'y', 'worst err/bound', {
        grid: true,
        values: logTicks(bottom, top),
        encode: {labels: {update: {text: TICK_LABEL}}},
      }),
      axis('bottom', 'x', '', {
        encode: {labels: {update: {text: {signal: "scale('label', datum.value)"}}}},
      }),
    ],
    marks: [
      boundRule(),
      lines('points', 'kernel', 'line'),
      lines('worst', 'kernel', 'line'),
      symbols('points', {size: {field: 'size'}}),
    ],
  };
}
