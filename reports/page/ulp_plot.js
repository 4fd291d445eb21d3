// How far outputs are from the correctly rounded result: one histogram a dtype, log counts.

function ulpSection(data, filter, styles) {
  const title = 'Distance from the correctly rounded result';
  if (data.ulp.length === 0) return section('ulp', title, notMeasured());
  const grid = element('div', {class: 'small-plots'});
  const table = foldedTable('Data of these plots', {
    caption: 'Outputs by their error in units in the last place',
    rows: [],
    limit: 80,
    columns: ulpColumns(),
  });
  filter.whenChanged(() => {
    const shown = data.ulp.filter((item) => filter.passes(item, ['kernel', 'dtype']));
    const sums = [...groupBy(shown, ulpName)]
      .map(([name, items]) => ulpSum(name, items))
      .sort((a, b) => byDtype(a.dtype, b.dtype) || byName(a.name, b.name));
    const bands = ulpBands(sums);
    table.setRows(
      sums.flatMap((sum) =>
        sum.bins
          .filter((bin) => bin.count > 0)
          .map((bin) => ({...bin, name: sum.name, share: bin.count / sum.total})),
      ),
    );
    fill(
      grid,
      sums.map((sum) => ulpFigure(sum, bands, styles)),
    );
    if (sums.length === 0)
      fill(grid, element('p', {class: 'not-measured'}, 'nothing matches the filter'));
  });
  return section(
    'ulp',
    title,
    grid,
    element(
      'p',
      {class: 'note'},
      'Error in units in the last place (ulp) of the dtype. ',
      'Left of the line stands what no kernel can do better; ',
      'the scale of the counts is logarithmic, so that a single bad output is seen.',
    ),
    table.node,
  );
}

function ulpName(item) {
  return [item.dtype, item.tensor].filter(isGiven).join(' ');
}

/** The histograms of several kernels added up. Two bins may have the same edges; they stay two. */
function ulpSum(name, items) {
  const bins = new Map();
  for (const item of items) {
    const seen = new Map();
    for (const bin of item.bins ?? []) {
      const edges = `${bin.from} ${bin.to}`;
      seen.set(edges, (seen.get(edges) ?? 0) + 1);
      const key = `${edges} ${seen.get(edges)}`;
      if (!bins.has(key))
        bins.set(key, {...bin, key, count: 0, label: binLabel(bin, seen.get(edges))});
      bins.get(key).count += bin.count;
    }
  }
  const outside = [
    ['not_finite', 'not finite'],
    ['missed_zero', 'not 0 where 0 is exact'],
  ]
    .map(([key, text]) => [sumBy(items, (item) => item[key]), text])
    .filter(([count]) => count > 0)
    .map(([count, text]) => `${countText(count)} ${text}`);
  return {
    name,
    outside,
    dtype: items[0].dtype,
    bins: [...bins.values()],
    total: sumBy(items, (item) => item.total),
    largest: largestBy(items, (item) => item.largest)?.largest,
  };
}

function binLabel(bin, copy) {
  const from = toNumber(bin.from);
  if (from === 0 && toNumber(bin.to) === 0.5) return copy === 1 ? 'rounded' : '\u2264 \u00BD';
  if (!Number.isFinite(toNumber(bin.to))) return `> ${edgeText(from)}`;
  return `\u2264 ${edgeText(toNumber(bin.to))}`;
}

function edgeText(value) {
  if (value === 0.5) return '\u00BD';
  const power = Math.log2(value);
  return value >= 4096 && Number.isInteger(power)
    ? `2^${power}`
    : numberText(value).replace(/\.0+$/, '');
}

/** The bins that some histogram has outputs in, and those between: the same for all. */
function ulpBands(sums) {
  const all = new Map();
  for (const bin of sums.flatMap((sum) => sum.bins)) {
    const known = all.get(bin.key);
    all.set(bin.key, {...bin, count: (known?.count ?? 0) + bin.count});
  }
  const ordered = [...all.values()].sort(
    (a, b) => rank(a.to) - rank(b.to) || rank(a.from) - rank(b.from) || byName(a.key, b.key),
  );
  const last = ordered.findLastIndex((bin) => bin.count > 0);
  return ordered.slice(0, Math.max(last + 1, Math.min(6, ordered.length)));
}

/** How many outputs are as near as the correctly rounded result may be. */
function countWithinHalf(item) {
  return sumBy(
    item.bins.filter((bin) => toNumber(bin.to) <= 0.5),
    (bin) => bin.count,
  );
}

function ulpFigure(sum, bands, styles) {
  const place = plotPlace(190);
  const rounded = countWithinHalf(sum);
  const facts =
    `${percentText(rounded / sum.total)} % within \u00BD ulp, largest ${numberText(sum.largest)} ulp` +
    sum.outside.map((text) => `; ${text}`).join('');
  drawSoon(place, () =>
    draw(
      place,
      ulpSpec(sum, bands, styles.get(sum.dtype)),
      `Histogram of errors of ${sum.name}: ${facts}`,
    ),
  );
  return plotFigure([
    element('h3', {}, sum.name),
    element('figcaption', {}, `${plural(sum.total, 'output')}, ${facts}`),
    place,
  ]);
}

function ulpColumns() {
  return [
    {title: 'dtype', key: 'name', head: true},
    {
      title: 'above (ulp)',
      read: (row) => toNumber(row.from),
      number: true,
      cell: (row) => numberText(row.from),
    },
    {
      title: 'up to (ulp)',
      read: (row) => toNumber(row.to),
      number: true,
      cell: (row) => numberText(row.to),
    },
    {title: 'bin', key: 'label', sort: false},
    {title: 'outputs', key: 'count', number: true, cell: (row) => countText(row.count)},
    {title: '%', key: 'share', number: true, cell: (row) => percentText(row.share)},
  ];
}

function ulpSpec(sum, bands, style) {
  const counts = new Map(sum.bins.map((bin) => [bin.key, bin.count]));
  const bars = bands
    .map((bin) => ({key: bin.key, label: bin.label, count: counts.get(bin.key) ?? 0}))
    .filter((bar) => bar.count > 0)
    .map((bar) => ({
      ...bar,
      color: style.color,
      tip: [
        `${sum.name}  ${bar.label} ulp`,
        plural(bar.count, 'output'),
        `${percentText(bar.count / sum.total)} %`,
      ],
    }));
  const highest = Math.max(10, ...bars.map((bar) => bar.count));
  const inside = bands.filter((bin) => toNumber(bin.to) <= 0.5);
  return {
    height: 190,
    data: [{name: 'bars', values: bars}],
    scales: [
      {
        name: 'x',
        type: 'band',
        domain: bands.map((bin) => bin.key),
        range: 'width',
        paddingInner: 0.12,
      },
      {
        name: 'label',
        type: 'ordinal',
        domain: bands.map((bin) => bin.key),
        range: bands.map((bin) => bin.label),
      },
      {name: 'y', type: 'log', domain: [0.7, highest * 8], range: 'height'},
    ],
    axes: [
      axis('left', 'y', 'outputs', {
        grid: true,
        values: decades(1, highest * 2),
        encode: {labels: {update: {text: {signal: "format(datum.value, '~s')"}}}},
      }),
      axis('bottom', 'x', 'error in ulp', {
        encode: {labels: {update: {text: {signal: "scale('label', datum.value)"}}}},
      }),
    ],
    marks: [
      {
        type: 'rect',
        aria: false,
        from: {data: 'bars'},
        encode: {
          update: {
            x: {scale: 'x', field: 'key'},
            width: {scale: 'x', band: 1},
            y: {scale: 'y', field: 'count'},
            y2: {signal: 'height'},
            fill: {field: 'color'},
            tooltip: {field: 'tip'},
          },
        },
      },
      ...(inside.length > 0 ? roundedLine(inside[inside.length - 1].key) : []),
    ],
  };
}

/** The line at half a unit: the error of the correctly rounded result is never beyond it. */
function roundedLine(key) {
  const x = {scale: 'x', value: key, band: 1, offset: 1};
  return [
    rule({
      x,
      y: {value: 0},
      y2: {signal: 'height'},
      stroke: {value: 'var(--ink)'},
      strokeDash: {value: [4, 3]},
    }),
    {
      type: 'text',
      aria: false,
      interactive: false,
      encode: {
        update: {
          x,
          dx: {value: 5},
          y: {value: 2},
          baseline: {value: 'top'},
          text: {value: '\u00BD: correctly rounded'},
        },
      },
    },
  ];
}
