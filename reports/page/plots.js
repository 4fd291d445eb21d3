// Drawing with Vega. Colours are CSS variables, so that the switch of the scheme and the printer
// need no second drawing. Data reach Vega as values, never as part of an expression.

const PLOT_FONT =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif';

const PLOT_CONFIG = {
  background: null,
  padding: {left: 2, top: 4, right: 10, bottom: 4},
  autosize: {type: 'fit', contains: 'padding'},
  axis: {
    labelFont: PLOT_FONT,
    titleFont: PLOT_FONT,
    labelFontSize: 11,
    titleFontSize: 11,
    titleFontWeight: 'normal',
    labelColor: 'var(--quiet)',
    titleColor: 'var(--quiet)',
    gridColor: 'var(--grid)',
    tickColor: 'var(--line)',
    domainColor: 'var(--line)',
    labelPadding: 4,
    titlePadding: 8,
    tickSize: 4,
    labelOverlap: true,
    labelSeparation: 6,
    aria: false,
  },
  text: {font: PLOT_FONT, fontSize: 11, fill: 'var(--quiet)'},
};

const views = new WeakMap();

const resized = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const view = views.get(entry.target);
    const width = Math.floor(entry.contentRect.width);
    if (view && width > 0 && width !== view.width()) view.width(width).run();
  }
});

/** Draws `spec` into `place`, in place of what was there. `description` is for a screen reader. */
function draw(place, spec, description) {
  views.get(place)?.finalize();
  const width = Math.max(240, Math.floor(place.clientWidth));
  const runtime = vega.parse(
    {$schema: 'https://vega.github.io/schema/vega/v5.json', description, width, ...spec},
    PLOT_CONFIG,
    {ast: true},
  );
  const view = new vega.View(runtime, {
    expr: vega.expressionInterpreter,
    renderer: 'svg',
    container: place,
    hover: true,
    tooltip: showTip,
    logLevel: vega.Warn,
  });
  view.addEventListener('click', (event, item) => copyOfPoint(item?.datum));
  view.run();
  views.set(place, view);
  resized.observe(place);
}

function copyOfPoint(datum) {
  if (isGiven(datum?.replay)) copyText(datum.replay);
  else if (isGiven(datum?.problem)) copyText(datum.problem);
}

/** Vega's place for tips would read HTML; this one shows the lines of `datum.tip` as text. */
function showTip(handler, event, item) {
  const tip = document.getElementById('tip');
  const lines = item?.datum?.tip;
  if (!Array.isArray(lines) || event.type === 'mouseout' || event.type === 'pointerout') {
    tip.hidden = true;
    return;
  }
  fill(
    tip,
    lines.map((line) => element('div', {}, line)),
  );
  tip.hidden = false;
  const edge = document.documentElement.clientWidth - tip.offsetWidth - 8;
  const left = Math.max(8, Math.min(event.clientX + 14, edge));
  const above = event.clientY - tip.offsetHeight - 12;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : event.clientY + 16}px`;
}

/** A plot with its caption, its legend and the table behind it. */
function plotFigure(children) {
  return element('figure', {class: 'plot'}, ...children);
}

/** The height is kept free, so that nothing moves when the plot comes. */
function plotPlace(height = 0) {
  const place = element('div', {class: 'plot-place'});
  place.style.minHeight = `${height}px`;
  return place;
}

/** The legend in HTML: it wraps on a phone, and its marks have a shape beside their colour. */
function legend(entries) {
  return element(
    'ul',
    {class: 'legend'},
    entries.map(({name, color, shape}) => element('li', {}, legendMark(color, shape), name)),
  );
}

const LEGEND_PATHS = {
  circle: 'M6 2a4 4 0 1 1 0 8a4 4 0 1 1 0-8Z',
  square: 'M2.5 2.5h7v7h-7Z',
  diamond: 'M6 1l5 5l-5 5l-5-5Z',
  'triangle-up': 'M6 1.5l5 9h-10Z',
  'triangle-down': 'M6 10.5l5-9h-10Z',
  cross: 'M4.5 1.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z',
  line: 'M0 5h12v2h-12Z',
  area: 'M0 0h12v12h-12Z',
};

function legendMark(color, shape) {
  const names = 'http://www.w3.org/2000/svg';
  const mark = document.createElementNS(names, 'svg');
  const path = document.createElementNS(names, 'path');
  for (const [name, value] of Object.entries({width: 12, height: 12, 'aria-hidden': true})) {
    mark.setAttribute(name, value);
  }
  path.setAttribute('d', LEGEND_PATHS[shape] ?? LEGEND_PATHS.circle);
  path.setAttribute('fill', color);
  mark.append(path);
  return mark;
}

function dtypeLegend(dtypes, styles) {
  return legend([...dtypes].sort(byDtype).map((dtype) => ({name: dtype, ...styles.get(dtype)})));
}

// -- parts that several plots share ---------------------------------------------------------------

/** 0.001 ... 1000 as they are, beyond them as 1e4. */
const TICK_LABEL = {
  signal:
    "datum.value >= 0.001 && datum.value < 10000 ? format(datum.value, '~r') : format(datum.value, '.0e')",
};

/** Powers of two are the natural lengths of keys; below 1 stands the case without keys. */
const LENGTH_LABEL = {
  signal:
    "datum.value < 1 ? '0' : datum.value < 10000 ? format(datum.value, 'd')" +
    " : datum.value % 1024 == 0 ? format(datum.value / 1024, 'd') + ' Ki' : format(datum.value, '~s')",
};

function decades(low, high) {
  const values = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); power <= Math.log10(high) + 1e-9; ++power) {
    values.push(10 ** power);
  }
  return values;
}

/** Decades, or 1, 2, 5, 10 where there are few of them. */
function logTicks(low, high) {
  const span = Math.log10(high / low);
  if (span > 2) return thinned(decades(low, high), 9);
  const steps = span > 1 ? [1, 3] : span > 0.5 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  return decades(low / 10, high)
    .flatMap((decade) => steps.map((step) => step * decade))
    .filter((value) => value >= low && value <= high);
}

/** At most `most` of the values, evenly. */
function thinned(values, most) {
  const step = Math.ceil(values.length / most);
  return values.filter((_, i) => i % step === 0);
}

function powersOfTwo(low, high, step = 1) {
  const values = [];
  for (let power = Math.ceil(Math.log2(low)); power <= Math.log2(high) + 1e-9; power += step) {
    values.push(2 ** power);
  }
  return values;
}

/** [smallest, largest] of the positive finite ones; `otherwise` if there are none. */
function positiveRange(values, otherwise) {
  const good = values.map(toNumber).filter((value) => value > 0 && Number.isFinite(value));
  if (good.length === 0) return otherwise;
  return [good.reduce((a, b) => Math.min(a, b)), good.reduce((a, b) => Math.max(a, b))];
}

function axis(orient, scale, title, more = {}) {
  return {orient, scale, title, ...more};
}

function rule(encode) {
  return {
    type: 'rule',
    aria: false,
    interactive: false,
    encode: {enter: {strokeWidth: {value: 1}}, update: encode},
  };
}

function symbols(data, more = {}) {
  return {
    type: 'symbol',
    aria: false,
    from: {data},
    encode: {
      enter: {cursor: {value: 'pointer'}, stroke: {value: 'var(--paper)'}, strokeWidth: {value: 1}},
      update: {
        x: {scale: 'x', field: 'x'},
        y: {scale: 'y', field: 'y'},
        fill: {field: 'color'},
        shape: {field: 'shape'},
        size: {value: 46},
        tooltip: {field: 'tip'},
        ...more,
      },
      hover: {size: {value: 130}, opacity: {value: 1}},
    },
  };
}

/** One line for each group of `by`; points are in the order of x. */
function lines(data, by, color = 'color') {
  return {
    type: 'group',
    aria: false,
    interactive: false,
    from: {facet: {name: `${data}_of_one`, data, groupby: by}},
    marks: [
      {
        type: 'line',
        aria: false,
        interactive: false,
        from: {data: `${data}_of_one`},
        encode: {
          enter: {strokeWidth: {value: 1.6}, strokeJoin: {value: 'round'}},
          update: {
            x: {scale: 'x', field: 'x'},
            y: {scale: 'y', field: 'y'},
            stroke: {field: color},
          },
        },
      },
    ],
  };
}

// -- when to draw ---------------------------------------------------------------------------------

const waiting = new Map();

/**
 * Draws `place` soon, once it is in the document and has a width: one plot a task, so that the page
 * can be read and used meanwhile. The last order for a place holds.
 */
function drawSoon(place, drawing) {
  if (waiting.size === 0) setTimeout(drawWaiting);
  waiting.set(place, drawing);
  document.documentElement.dataset.state = 'drawing';
}

function drawWaiting() {
  const [place, drawing] = waiting.entries().next().value;
  waiting.delete(place);
  if (waiting.size > 0) setTimeout(drawWaiting);
  else document.documentElement.dataset.state = 'drawn';
  if (place.isConnected) drawing();
}
