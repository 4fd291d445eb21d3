// err/bound against the number of keys, log-log. Below 1 every error is explained.

function ratioSection(data, filter, styles) {
  if (data.ratio_by_keys.length === 0)
    return section('ratio', 'Error against key length', notMeasured());
  const place = plotPlace(320);
  const legendPlace = element('div', {});
  const note = element('span', {});
  const table = foldedTable('Data of this plot', {
    caption: 'Worst case of each kernel, dtype and range of key lengths',
    rows: [],
    columns: ratioColumns(),
  });
  const figure = plotFigure([
    legendPlace,
    place,
    element(
      'figcaption',
      {},
      'Largest error against its proven bound. ',
      'A line joins the worst of each length over all kernels shown. ',
      'Point at a mark to see its case; click to copy its replay line. ',
      note,
    ),
    table.node,
  ]);
  filter.whenChanged(() => {
    const shown = data.ratio_by_keys.filter((point) => filter.finds(point));
    table.setRows(shown);
    fill(legendPlace, dtypeLegend(distinct(shown.map((point) => point.dtype)), styles));
    const exact = shown.filter((point) => rank(point.ratio) === 0).length;
    const tiny = shown.filter(({ratio}) => rank(ratio) > 0 && rank(ratio) < LEAST_RATIO).length;
    note.textContent = [
      exact > 0 ? `${plural(exact, 'case')} without any error not drawn.` : '',
      tiny > 0 ? `${plural(tiny, 'case')} below ${numberText(LEAST_RATIO)} drawn at the lower edge.` : '',
    ].join(' ');
    drawSoon(place, () => draw(place, ratioSpec(shown, styles), ratioDescription(shown)));
  });
  return section('ratio', 'Error against key length', figure);
}

function ratioColumns() {
  return [
    {title: 'kernel', key: 'kernel', head: true},
    {title: 'dtype', key: 'dtype'},
    {title: 'keys', key: 'keys', number: true, cell: (row) => countText(row.keys)},
    {title: 'err/bound', key: 'ratio', number: true, cell: (row) => ratioText(row.ratio)},
    {title: 'property', key: 'law'},
    PROBLEM_COLUMN,
  ];
}

function ratioDescription(points) {
  const worst = largestBy(points, (point) => point.ratio);
  if (worst === null) return 'Error against bound by key length; no point';
  return (
    `Error against bound by key length; ${points.length} points, the largest is ${ratioText(worst.ratio)}` +
    ` at ${worst.keys} keys in ${worst.dtype}`
  );
}

/** Less of the bound than this is nothing to tell apart; it is drawn at the lower edge. */
const LEAST_RATIO = 1e-4;

function ratioPoints(shown, styles, bottom, top) {
  return shown
    .filter((point) => rank(point.ratio) > 0)
    .map((point) => {
      const isBroken = rank(point.ratio) > 1;
      return {
        x: Math.max(0.5, point.keys),
        y: Math.max(bottom, Math.min(rank(point.ratio), top)),
        dtype: point.dtype,
        replay: point.replay,
        problem: point.problem,
        ...styles.get(point.dtype),
        ...(isBroken ? {edge: 'var(--bad)'} : {edge: 'var(--paper)'}),
        tip: [
          `${point.kernel}  ${point.dtype}  ${countText(point.keys)} keys`,
          `err/bound ${ratioText(point.ratio)}  ${point.law ?? ''}`,
          point.problem ?? '',
          isGiven(point.replay) ? 'click: copy the replay line' : 'click: copy the problem',
        ],
      };
    })
    .sort((a, b) => a.x - b.x || a.y - b.y);
}

/** Of each dtype and length the worst point, over kernels. */
function worstLine(points) {
  const best = new Map();
  for (const point of points) {
    const key = `${point.dtype} ${point.x}`;
    if (!best.has(key) || best.get(key).y < point.y) best.set(key, point);
  }
  return [...best.values()];
}

/** The line at 1, above the shaded region. */
function boundRule() {
  return {
    type: 'group',
    aria: false,
    interactive: false,
    marks: [
      {
        type: 'rect',
        aria: false,
        interactive: false,
        encode: {
          update: {
            x: {value: 0},
            x2: {signal: 'width'},
            y: {scale: 'y', value: 1},
            y2: {signal: 'height'},
            fill: {value: 'var(--inside)'},
          },
        },
      },
      rule({
        x: {value: 0},
        x2: {signal: 'width'},
        y: {scale: 'y', value: 1},
        stroke: {value: 'var(--ink)'},
        strokeDash: {value: [4, 3]},
      }),
      {
        type: 'text',
        aria: false,
        interactive: false,
        encode: {
          update: {
            x: {signal: 'width'},
            dx: {value: -4},
            y: {scale: 'y', value: 1},
            dy: {value: -5},
            align: {value: 'right'},
            text: {value: 'bound'},
          },
        },
      },
    ],
  };
}

function ratioSpec(shown, styles) {
  const [low, high] = positiveRange(
    shown.map((point) => point.ratio),
    [0.01, 1],
  );
  const top = Math.max(3, high * 2);
  const bottom = Math.max(LEAST_RATIO, Math.min(low / 1.6, 0.1));
  const points = ratioPoints(shown, styles, bottom, top);
  const [shortest, longest] = positiveRange(
    points.map((point) => point.x),
    [1, 1024],
  );
  const step = Math.max(1, Math.ceil(Math.log2(longest / shortest) / 12));
  const worst = worstLine(points);
  const others = points.filter((point) => !worst.includes(point));
  return {
    height: 320,
    data: [
      {name: 'others', values: others},
      {name: 'worst', values: worst},
    ],
    scales: [
      {name: 'x', type: 'log', base: 2, domain: [shortest / 1.2, longest * 1.2], range: 'width'},
      {name: 'y', type: 'log', domain: [bottom, top], range: 'height'},
    ],
    axes: [
      axis('left', 'y', 'err/bound', {
        grid: true,
        values: logTicks(bottom, top),
        encode: {labels: {update: {text: TICK_LABEL}}},
      }),
      axis('bottom', 'x', 'keys', {
        values: powersOfTwo(shortest, longest * 1.01, step),
        encode: {labels: {update: {text: LENGTH_LABEL}}},
      }),
    ],
    marks: [
      boundRule(),
      lines('worst', 'dtype'),
      symbols('others', {
        size: {value: 16},
        stroke: {field: 'edge'},
        strokeWidth: {value: 0.5},
        opacity: {value: 0.55},
      }),
      symbols('worst', {stroke: {field: 'edge'}}),
    ],
  };
}
