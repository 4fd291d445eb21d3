// What is asked of a page that Chromium has open. Each check returns what is wrong, as lines.
'use strict';

/** Errors and warnings of the console, exceptions, and refusals of the content policy. */
function troubles(events) {
  const lines = [];
  for (const {method, params} of events) {
    if (method === 'Runtime.exceptionThrown') {
      lines.push(
        `exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`,
      );
    } else if (
      method === 'Runtime.consoleAPICalled' &&
      ['error', 'warning', 'assert'].includes(params.type)
    ) {
      lines.push(
        `console.${params.type}: ${params.args.map((each) => each.value ?? each.description).join(' ')}`,
      );
    } else if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level)) {
      lines.push(`log: ${params.entry.text}`);
    }
  }
  return lines;
}

/** Requests for anything but the page itself. */
function foreignRequests(events, address) {
  const urls = events
    .filter(({method}) => method === 'Network.requestWillBeSent')
    .map(({params}) => params.request.url);
  const wrong = urls.filter((url) => url !== address && !url.startsWith('data:'));
  const lines = wrong.map((url) => `request: ${url}`);
  if (!urls.includes(address)) lines.push('the request of the page itself was not seen');
  return lines;
}

/** Plots without marks: what is drawn inside the axes is a mark of one of these kinds. */
const PLOTS = `[...document.querySelectorAll('.plot-place')].map((place) => ({
  section: place.closest('section').id,
  marks: place.querySelectorAll('svg .mark-symbol path, svg .mark-rect path').length,
  name: place.querySelector('svg')?.getAttribute('aria-label') ?? place.getAttribute('aria-label') ?? '',
}))`;

async function undrawnPlots(tab, sections) {
  const plots = await tab.evaluate(PLOTS);
  const lines = plots
    .filter((plot) => plot.marks === 0)
    .map((plot) => `plot of ${plot.section} has no marks`);
  for (const section of sections) {
    if (!plots.some((plot) => plot.section === section))
      lines.push(`section ${section} has no plot`);
  }
  return lines;
}

/** The page is as wide as the window, and no plot sticks out of its place. */
async function overflow(tab, width) {
  const found = await tab.evaluate(`({page: document.documentElement.scrollWidth,
    wide: [...document.querySelectorAll('body *')].filter((each) => !each.closest('.scroll, .tip, .spoken, .skip, .problem')
      && each.getBoundingClientRect().right > ${width} + 1 && each.getBoundingClientRect().width > 0)
      .slice(0, 5).map((each) => each.outerHTML.slice(0, 100))})`);
  const lines = found.wide.map((html) => `sticks out at ${width} px: ${html}`);
  if (found.page > width)
    lines.push(`the page is ${found.page} px wide in a window of ${width} px`);
  return lines;
}

const NAMED_ROLES = new Set([
  'button',
  'link',
  'combobox',
  'searchbox',
  'textbox',
  'table',
  'region',
  'img',
  'image',
  'graphics-document',
  'heading',
  'columnheader',
  'rowheader',
  'navigation',
  'search',
  'DisclosureTriangle',
]);

/** Parts of the page that a screen reader would not name, and roles that the page should have. */
async function namelessParts(tab, rolesExpected) {
  const {nodes} = await tab.send('Accessibility.getFullAXTree');
  const seen = nodes.filter((node) => !node.ignored);
  const lines = [];
  for (const node of seen) {
    const role = node.role?.value;
    if (NAMED_ROLES.has(role) && !(node.name?.value ?? '').trim())
      lines.push(`a ${role} has no name`);
  }
  const roles = new Set(seen.map((node) => node.role?.value));
  for (const role of rolesExpected)
    if (!roles.has(role)) lines.push(`no ${role} in the accessibility tree`);
  return lines;
}

/** One first heading, no level left out, a language. */
async function headings(tab) {
  const levels = await tab.evaluate(
    `[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((each) => Number(each.tagName[1]))`,
  );
  const lines = [];
  if (levels.filter((level) => level === 1).length !== 1 || levels[0] !== 1)
    lines.push('not one h1 before all headings');
  levels.forEach((level, i) => {
    if (i > 0 && level > levels[i - 1] + 1) lines.push(`h${level} follows h${levels[i - 1]}`);
  });
  if ((await tab.evaluate(`document.documentElement.lang`)) !== 'en') lines.push('no language');
  return lines;
}

/** Contrast of text with what is behind it, from the colours of the style sheet; at least 4.5. */
async function contrasts(tab) {
  const pairs = [
    ['ink', 'paper'],
    ['quiet', 'paper'],
    ['accent', 'paper'],
    ['ok', 'paper'],
    ['bad', 'paper'],
    ['unsure', 'paper'],
    ['ink', 'panel'],
    ['quiet', 'panel'],
    ['bad', 'panel'],
    ['ok', 'panel'],
    ['unsure', 'panel'],
    ['bad', 'bad-panel'],
    ['unsure', 'unsure-panel'],
  ];
  const colors =
    await tab.evaluate(`(() => { const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(${JSON.stringify([...new Set(pairs.flat())])}.map((name) => [name, style.getPropertyValue('--' + name).trim()])); })()`);
  return pairs
    .filter(([text, ground]) => !(contrast(colors[text], colors[ground]) >= 4.5))
    .map(
      ([text, ground]) =>
        `contrast of ${text} on ${ground} is ${contrast(colors[text], colors[ground])}`,
    );
}

function contrast(first, second) {
  const [low, high] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Of #rgb or #rrggbb, as WCAG defines it. */
function luminance(color) {
  const digits =
    color.length === 4
      ? [...color.slice(1)].map((digit) => digit + digit)
      : color.slice(1).match(/../g);
  const [red, green, blue] = digits
    .map((pair) => parseInt(pair, 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

module.exports = {
  troubles,
  foreignRequests,
  undrawnPlots,
  overflow,
  namelessParts,
  headings,
  contrasts,
};
