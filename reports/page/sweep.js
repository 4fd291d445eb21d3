// Sweeps: how errors grow with one quantity.

const SWEEP_MEASURES = [
  {key: 'ratio', title: 'err/bound'},
  {key: 'rms_error', title: 'rms error'},
  {key: 'max_error', title: 'largest error'},
  {key: 'ulp_max', title: 'largest error, ulp'},
  {key: 'bias', title: '|bias|'},
  {key: 'twin_ratio', title: 'twin ratio'},
];

function sweepSection(data, filter, styles) {
  if (data.sweep.length === 0) return section('sweep', 'Sweep', notMeasured());
  // Where the swept quantity is a number, it is drawn as one; elsewhere `number` is its place.
  const points = data.sweep.map((row) => ({
    ...row,
    x: Number(row.x) === row.number ? row.number : row.x,
  }));
  const place = element('div', {});
  const legendPlace = element('div', {});
  const table = foldedTable('Data of these plots', {
    caption: 'Sweep',
    rows: [],
    columns: sweepColumns(),
  });
  filter.whenChanged(() => {
    const shown = points.filter((row) => filter.finds(row));
    table.setRows(shown);
    fill(legendPlace, dtypeLegend(distinct(shown.map((row) => row.dtype)), styles));
    fill(
      place,
      [...groupBy(shown, (row) => row.over)].map(([over, rows]) =>
        sweepFigures(over, rows, styles),
      ),
    );
  });
  return section(
    'sweep',
    'Sweep',
    legendPlace,
    place,
    element(
      'p',
      {class: 'note'},
      'The worst over the kernels shown. Click a mark to copy the line that runs its case again.',
    ),
    table.node,
  );
}

function sweepFigures(over, rows, styles) {
  const measures = SWEEP_MEASURES.filter(({key}) => rows.some((row) => sizeOf(row, key) > 0));
  return [
    element('h3', {}, `Over ${over}`),
    element(
      'div',
      {class: 'small-plots'},
      measures.map((measure) => {
        const place = plotPlace(190);
        drawSoon(place, () =>
          draw(place, sweepSpec(over, rows, measure, styles), `${measure.title} over ${over}`),
        );
        return plotFigure([element('h4', {}, measure.title), place]);
      }),
    ),
  ];
}

function sweepColumns() {
  const value = (title, key) => ({title, key, number: true, cell: (row) => memberText(row, key)});
  return [
    {title: 'kernel', key: 'kernel', head: true},
    {title: 'over', key: 'over'},
    {title: 'x', key: 'x', number: true, cell: (row) => String(row.x)},
    {title: 'dtype', key: 'dtype'},
    {
      title: 'violated',
      key: 'violations',
      number: true,
      cell: (row) => quietZero(row.violations, 'bad'),
    },
    ...SWEEP_MEASURES.map(({key, title}) => value(key === 'bias' ? 'bias' : title, key)),
    {title: 'reason', key: 'reason'},
    PROBLEM_COLUMN,
  ];
}

/** What is drawn of a member; err/bound that is no number is a failure, and drawn at the top. */
function sizeOf(row, key) {
  const size = Math.abs(toNumber(row[key]));
  return key === 'ratio' && isGiven(row.ratio) && !isGiven(row.reason) ? rank(row.ratio) : size;
}

/** Of each x and dtype the worst over kernels. */
function sweepPoints(over, rows, measure, styles) {
  const groups = groupBy(
    rows.filter((row) => sizeOf(row, measure.key) > 0),
    (row) => `${row.dtype} ${row.x}`,
  );
  const points = [...groups.values()].map((group) => {
    const row = largestBy(group, (each) => sizeOf(each, measure.key));
    return {
      x: row.x,
      place: row.number,
      y: sizeOf(row, measure.key),
      dtype: row.dtype,
      replay: row.replay,
      problem: row.problem,
      ...styles.get(row.dtype),
      tip: [
        `${row.kernel}  ${row.dtype}  ${over} ${row.x}`,
        `${measure.title} ${numberText(row[measure.key])}`,
        row.problem ?? '',
      ],
    };
  });
  return points.sort((a, b) => compareValues(a.place ?? a.x, b.place ?? b.x));
}

function sweepSpec(over, rows, measure, styles) {
  const raw = sweepPoints(over, rows, measure, styles);
  const [low, high] = positiveRange(
    raw.map((point) => point.y),
    [0.1, 1],
  );
  const isRatio = measure.key === 'ratio';
  const [bottom, top] = [low / 2, isRatio ? Math.max(2, high * 2) : high * 2];
  const points = raw.map((point) => ({...point, y: Math.min(point.y, top)}));
  return {
    height: 190,
    data: [{name: 'points', values: points}],
    scales: [sweepScale(points), {name: 'y', type: 'log', domain: [bottom, top], range: 'height'}],
    axes: [
      axis('left', 'y', '', {
        grid: true,
        values: logTicks(bottom, top),
        encode: {labels: {update: {text: TICK_LABEL}}},
      }),
      axis('bottom', 'x', over, sweepTicks(points)),
    ],
    marks: [...(isRatio ? [boundRule()] : []), lines('points', 'dtype'), symbols('points')],
  };
}

function isNumericSweep(points) {
  return points.every((point) => typeof point.x === 'number' && point.x > 0);
}

function sweepScale(points) {
  if (!isNumericSweep(points)) {
    return {
      name: 'x',
      type: 'point',
      domain: [...new Set(points.map((point) => String(point.x)))],
      range: 'width',
      padding: 0.5,
    };
  }
  const [low, high] = positiveRange(
    points.map((point) => point.x),
    [1, 2],
  );
  return {name: 'x', type: 'log', base: 2, domain: [low / 1.15, high * 1.15], range: 'width'};
}

function sweepTicks(points) {
  if (!isNumericSweep(points)) return {};
  const [low, high] = positiveRange(
    points.map((point) => point.x),
    [1, 2],
  );
  const isLength = points.every((point) => Number.isInteger(point.x));
  return isLength
    ? {
        values: powersOfTwo(low, high, Math.max(1, Math.ceil(Math.log2(high / low) / 6))),
        encode: {labels: {update: {text: LENGTH_LABEL}}},
      }
    : {tickCount: 5};
}
