// The worst case: err/bound of every row and key tile, with the grid of tiles over it.

// Lower ends of the classes of colour; what is above 1 has a colour and a sign of its own.
const HEAT_EDGES = [0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7];

function heatClass(ratio) {
  if (rank(ratio) > 1) return 'bad';
  return HEAT_EDGES.findLastIndex((edge) => rank(ratio) >= edge);
}

function heatSection(data) {
  const heat = data.heat;
  const title = 'The worst case, row by key tile';
  if (!heat || !(heat.cells?.length > 0)) return section('heat', title, notMeasured());
  const place = plotPlace();
  const table = foldedTable('Data of this plot', {
    caption: 'err/bound of each row and key tile, largest first',
    rows: heatCells(heat).sort((a, b) => rank(b.ratio) - rank(a.ratio)),
    limit: 100,
    columns: heatColumns(),
  });
  const worst = largestBy(heatCells(heat), (cell) => cell.ratio);
  drawSoon(place, () =>
    draw(
      place,
      heatSpec(heat),
      `Heat map of err/bound: ${plural(heat.rows.length, 'row')}, ` +
        `${plural(heat.tiles.length, 'key tile')}; largest ${ratioText(worst.ratio)} in row ${worst.row}, keys ${worst.keys}`,
    ),
  );
  return section(
    'heat',
    title,
    element(
      'p',
      {class: 'note'},
      code(heat.kernel),
      ' ',
      code(heat.law),
      isGiven(heat.tensor) ? ` ${heat.tensor} of ` : ' ',
      problemCell(heat.problem, heat.replay),
    ),
    plotFigure([
      heatLegend(),
      place,
      element(
        'figcaption',
        {},
        `Tiles of ${heat.tile_q} rows and ${heat.tile_kv} keys. Rows from top to bottom as named; `,
        'where no colour stands, the row sees no key of the tile. ',
        isGiven(heat.note) ? heat.note : null,
      ),
      table.node,
    ]),
  );
}

function heatLegend() {
  const classes = HEAT_EDGES.map((edge, i) => ({
    name: i + 1 < HEAT_EDGES.length ? `${edge}\u2013${HEAT_EDGES[i + 1]}` : `${edge}\u20131`,
    color: `var(--heat-${i})`,
    shape: 'area',
  }));
  return legend([...classes, {name: 'above the bound', color: 'var(--heat-bad)', shape: 'area'}]);
}

function heatCells(heat) {
  return heat.cells.map(([row, tile, ratio]) => ({
    row: heat.rows[row] ?? String(row),
    tile,
    begin: heat.tiles[tile]?.begin ?? tile,
    end: heat.tiles[tile]?.end ?? tile + 1,
    keys: `${heat.tiles[tile]?.begin}\u2013${(heat.tiles[tile]?.end ?? 1) - 1}`,
    ratio,
  }));
}

function heatColumns() {
  return [
    {title: 'row', key: 'row', head: true},
    {title: 'keys', read: (cell) => cell.begin, number: true, cell: (cell) => cell.keys},
    {title: 'err/bound', key: 'ratio', number: true, cell: (cell) => ratioText(cell.ratio)},
  ];
}

/** Rows after which a tile of queries ends, or a head: the horizontal lines of the grid. */
function heatBreaks(heat) {
  const part = (name) => {
    const query = /\bq(\d+)/.exec(name);
    const rest = name.replace(/\bq\d+/, '');
    return query ? `${rest}${Math.floor(Number(query[1]) / Math.max(1, heat.tile_q || 1))}` : rest;
  };
  return heat.rows
    .map((name, i) => ({name, ends: i > 0 && part(name) !== part(heat.rows[i - 1])}))
    .filter((row) => row.ends)
    .map((row) => ({row: row.name}));
}

function heatSpec(heat) {
  const cells = heatCells(heat).map((cell) => ({
    ...cell,
    replay: heat.replay,
    color: `var(--heat-${heatClass(cell.ratio)})`,
    tip: [
      `${cell.row}  keys ${cell.keys}`,
      `err/bound ${ratioText(cell.ratio)}`,
      'click: copy the replay line',
    ],
  }));
  const begins = heat.tiles.map((tile) => tile.begin);
  const end = heat.tiles[heat.tiles.length - 1].end;
  const height = Math.max(60, Math.min(480, heat.rows.length * 18));
  const edges = [...begins, end].map((at) => ({at}));
  return {
    height: height + 40,
    data: [
      {name: 'cells', values: cells},
      {name: 'edges', values: edges},
      {name: 'breaks', values: heatBreaks(heat)},
    ],
    scales: [
      {name: 'x', type: 'linear', domain: [begins[0], end], range: 'width', zero: false},
      {name: 'y', type: 'band', domain: heat.rows, range: 'height'},
    ],
    axes: [
      axis('left', 'y', '', {ticks: false, domain: false}),
      axis('bottom', 'x', 'keys', {values: thinned([...begins, end], 24), format: 'd'}),
    ],
    marks: [
      {
        type: 'rect',
        aria: false,
        interactive: false,
        encode: {
          update: {
            x: {value: 0},
            x2: {signal: 'width'},
            y: {value: 0},
            y2: {signal: 'height'},
            fill: {value: 'var(--unseen)'},
          },
        },
      },
      {
        type: 'rect',
        aria: false,
        from: {data: 'cells'},
        encode: {
          enter: {cursor: {value: 'pointer'}},
          update: {
            x: {scale: 'x', field: 'begin'},
            x2: {scale: 'x', field: 'end'},
            y: {scale: 'y', field: 'row'},
            height: {scale: 'y', band: 1},
            fill: {field: 'color'},
            stroke: {value: null},
            tooltip: {field: 'tip'},
          },
          hover: {stroke: {value: 'var(--ink)'}},
        },
      },
      gridRule('edges', {x: {scale: 'x', field: 'at'}, y: {value: 0}, y2: {signal: 'height'}}),
      gridRule('breaks', {x: {value: 0}, x2: {signal: 'width'}, y: {scale: 'y', field: 'row'}}),
      {
        type: 'symbol',
        aria: false,
        interactive: false,
        from: {data: 'cells'},
        encode: {
          update: {
            x: {signal: "(scale('x', datum.begin) + scale('x', datum.end)) / 2"},
            y: {scale: 'y', field: 'row', band: 0.5},
            shape: {value: 'M-1,-1L1,1M-1,1L1,-1'},
            size: {signal: "datum.color == 'var(--heat-bad)' ? 14 : 0"},
            stroke: {value: 'var(--paper)'},
            strokeWidth: {signal: "datum.color == 'var(--heat-bad)' ? 1.5 : 0"},
          },
        },
      },
    ],
  };
}

function gridRule(data, place) {
  return {
    ...rule({...place, stroke: {value: 'var(--tile)'}, strokeWidth: {value: 1}}),
    from: {data},
  };
}
