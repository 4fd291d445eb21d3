// Mean signed error with its confidence interval: a kernel that truncates is not in the middle.

function biasSection(data, filter, styles) {
  if (data.bias.length === 0) return section('bias', 'Bias', notMeasured());
  const place = plotPlace();
  const legendPlace = element('div', {});
  const table = foldedTable('Data of this plot', {
    caption: 'Mean signed error in ulp with its 95 % confidence interval',
    rows: [],
    columns: biasColumns(),
  });
  filter.whenChanged(() => {
    const shown = data.bias.filter((item) => filter.passes(item, ['kernel', 'dtype']));
    table.setRows(shown);
    fill(legendPlace, dtypeLegend(distinct(shown.map((item) => item.dtype)), styles));
    drawSoon(place, () => draw(place, biasSpec(shown, styles), biasDescription(shown)));
  });
  return section(
    'bias',
    'Bias',
    plotFigure([
      legendPlace,
      place,
      element(
        'figcaption',
        {},
        'Mean of got \u2212 exact in ulp, with its 95 % confidence interval. ',
        'A filled mark: the interval does not hold 0, ',
        'so the kernel rounds to one side.',
      ),
      table.node,
    ]),
  );
}

function isBiased(item) {
  return toNumber(item.low) > 0 || toNumber(item.high) < 0;
}

function biasDescription(items) {
  return `Mean signed error; ${items.filter(isBiased).length} of ${items.length} intervals do not hold zero`;
}

function biasColumns() {
  const value = (title, key) => ({
    title,
    read: (item) => toNumber(item[key]),
    number: true,
    cell: (item) => numberText(item[key]),
  });
  return [
    {title: 'kernel', key: 'kernel', head: true},
    {title: 'dtype', key: 'dtype', cell: ulpName},
    value('mean (ulp)', 'mean'),
    value('from', 'low'),
    value('to', 'high'),
    {title: 'samples', key: 'count', number: true, cell: (item) => countText(item.count)},
    {
      title: 'holds 0',
      read: (item) => Number(isBiased(item)),
      cell: (item) => (isBiased(item) ? 'no' : 'yes'),
    },
  ];
}

function biasPoints(items, styles) {
  const names = distinct(items.map(ulpName)).sort(
    (a, b) => byDtype(a.split(' ')[0], b.split(' ')[0]) || byName(a, b),
  );
  return items.map((item) => ({
    kernel: item.kernel,
    name: ulpName(item),
    place: names.indexOf(ulpName(item)),
    places: names.length,
    mean: toNumber(item.mean),
    low: toNumber(item.low),
    high: toNumber(item.high),
    ...styles.get(item.dtype),
    fill: isBiased(item) ? styles.get(item.dtype).color : 'var(--paper)',
    tip: [
      `${item.kernel}  ${ulpName(item)}`,
      `mean ${numberText(item.mean)} ulp`,
      `95 %: ${numberText(item.low)} to ${numberText(item.high)}`,
      plural(item.count, 'sample'),
    ],
  }));
}

/** The interval of too few samples is infinite; its bar ends at the edge of the plot. */
function biasDomain(points) {
  const finite = points
    .flatMap((point) => [point.mean, point.low, point.high])
    .filter(Number.isFinite)
    .map(Math.abs);
  const most = finite.length > 0 ? finite.reduce((a, b) => Math.max(a, b)) : 1;
  return 1.1 * (most || 1);
}

function biasSpec(items, styles) {
  const points = biasPoints(items, styles).filter((point) => Number.isFinite(point.mean));
  const edge = biasDomain(points);
  const kernels = distinct(points.map((point) => point.kernel));
  const slots = Math.max(1, ...points.map((point) => point.places));
  const y = {
    signal: "scale('y', datum.kernel) + bandwidth('y') * (datum.place + 0.5) / datum.places",
  };
  const clipped = points.map((point) => ({
    ...point,
    low: Math.max(-edge, point.low),
    high: Math.min(edge, point.high),
  }));
  return {
    height: Math.max(90, 44 + kernels.length * Math.max(18, 8 * slots + 8)),
    data: [
      {name: 'points', values: clipped},
      {name: 'kernels', values: kernels.map((kernel) => ({kernel}))},
    ],
    scales: [
      {name: 'x', type: 'linear', domain: [-edge, edge], range: 'width'},
      {name: 'y', type: 'band', domain: kernels, range: 'height', padding: 0.2},
    ],
    axes: [
      axis('bottom', 'x', 'mean signed error (ulp)', {grid: true, tickCount: 7}),
      axis('left', 'y', '', {ticks: false, labelLimit: {signal: 'max(90, width * 0.28)'}}),
    ],
    marks: [
      rule({
        x: {scale: 'x', value: 0},
        y: {value: 0},
        y2: {signal: 'height'},
        stroke: {value: 'var(--ink)'},
      }),
      {
        ...rule({
          x: {scale: 'x', field: 'low'},
          x2: {scale: 'x', field: 'high'},
          y,
          stroke: {field: 'color'},
          strokeWidth: {value: 1.8},
        }),
        from: {data: 'points'},
      },
      symbols('points', {
        x: {scale: 'x', field: 'mean'},
        y,
        fill: {field: 'fill'},
        stroke: {field: 'color'},
        strokeWidth: {value: 1.6},
      }),
    ],
  };
}
