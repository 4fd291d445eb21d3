// What people do with a page. Each use returns what went wrong, as lines.
'use strict';

const {keyboard, openByEnter} = require('./uses_keyboard.js');

const VISIBLE_LAWS = `[...document.querySelectorAll('#laws > .table > .scroll > table > tbody > tr:not(.opened-row):not(.no-row)')].map((row) =>
  row.cells[0].textContent)`;

const DRAWN = `document.documentElement.dataset.state === 'drawn'`;

async function choose(tab, name, value) {
  await tab.evaluate(`(() => { const select = document.getElementById('filter-${name}'); select.value = ${JSON.stringify(value)};
    select.dispatchEvent(new Event('change', {bubbles: true})); })()`);
  await tab.until(DRAWN);
}

async function clearFilter(tab) {
  await tab.click('.filter .plain');
  await tab.until(DRAWN);
}

/** The laws that have a kept case of this kind: counted here without the code of the page. */
function lawsOfCases(data, holds) {
  return new Set(data.cases.filter(holds).map((each) => each.law)).size;
}

async function filterRows(tab, data) {
  const lines = [];
  const expectRows = async (what, wanted) => {
    const got = (await tab.evaluate(VISIBLE_LAWS)).length;
    if (got !== wanted) lines.push(`${what}: ${got} laws instead of ${wanted}`);
  };
  const expectCount = async (what, wanted) => {
    const said = await tab.evaluate(`document.getElementById('filter-count').textContent`);
    if (!said.includes(` ${wanted} case${wanted === 1 ? '' : 's'} shown`))
      lines.push(`${what}: the page says ${said}, not ${wanted} cases`);
  };
  const all = new Set(data.laws.map((law) => law.law)).size;
  await expectRows('no filter', all);
  await choose(tab, 'law', 'bound.out');
  await expectRows('one property', 1);
  await choose(tab, 'law', '');
  await choose(tab, 'outcome', 'fail');
  await expectRows(
    'status fail',
    lawsOfCases(data, (each) => each.outcome === 'fail'),
  );
  await choose(tab, 'outcome', 'weak');
  await expectRows(
    'status weak',
    new Set(data.laws.filter((law) => law.weak > 0).map((law) => law.law)).size,
  );
  await choose(tab, 'outcome', '');
  await choose(tab, 'mask', 'doc');
  await expectRows(
    'mask doc',
    lawsOfCases(data, (each) => each.mask.startsWith('doc')),
  );
  await expectCount('mask doc', data.cases.filter((each) => each.mask.startsWith('doc')).length);
  await clearFilter(tab);
  await expectRows('cleared', all);
  await tab.click('#filter-text');
  await tab.send('Input.insertText', {text: 'empty.forward'});
  await expectRows('text', 1);
  await expectCount(
    'text',
    data.cases.filter((each) => Object.values(each).join().includes('empty.forward')).length,
  );
  await tab.send('Input.insertText', {text: ' no such text'});
  await expectRows('text of nothing', 0);
  await clearFilter(tab);
  return lines;
}

/** A choice of dtype reaches the plots: fewer marks, and none of the other dtypes. */
async function filterPlots(tab) {
  const marks = () =>
    tab.evaluate(`Object.fromEntries([...document.querySelectorAll('section')].map((each) =>
    [each.id, each.querySelectorAll('svg .mark-symbol path, svg .mark-rect path').length]))`);
  const before = await marks();
  await choose(tab, 'dtype', 'bf16');
  const after = await marks();
  const lines = ['ratio', 'ulp', 'bias', 'sweep']
    .filter((name) => !(after[name] > 0 && after[name] < before[name]))
    .map((name) => `${name}: ${before[name]} marks, ${after[name]} with one dtype`);
  const legends = await tab.evaluate(
    `[...document.querySelectorAll('#ratio .legend li')].map((each) => each.textContent)`,
  );
  if (legends.join() !== 'bf16') lines.push(`legend of one dtype: ${legends}`);
  await choose(tab, 'kernel', 'builtin:simd');
  const history = (await marks()).history;
  if (!(history > 0 && history < before.history))
    lines.push(`history: ${before.history} marks, ${history} with one kernel`);
  await clearFilter(tab);
  if (JSON.stringify(await marks()) !== JSON.stringify(before))
    lines.push('the cleared filter does not bring all marks back');
  return lines;
}

/** Each button that says so copies exactly the replay line of its row. */
async function copyReplayLines(tab, data) {
  const lines = [];
  const expectCopy = async (what, selector, wanted) => {
    await tab.evaluate('window.copied.length = 0');
    await tab.click(selector);
    const copied = await tab.evaluate('window.copied');
    if (JSON.stringify(copied) !== JSON.stringify([wanted]))
      lines.push(`${what}: copied ${JSON.stringify(copied)}, not ${wanted}`);
  };
  await expectCopy('witness', '#witnesses tbody tr:nth-child(2) .copy', data.witnesses[1].replay);
  await expectCopy('violation', '#violations .violation .copy', data.violations[0].replay);
  await expectCopy('command', '.facts .copy', data.command);
  await expectCopy('heat map', '#heat .note .copy', data.heat.replay);
  await expectCopy(
    'a cell of the heat map',
    '#heat svg .mark-rect path[fill="var(--heat-bad)"]',
    data.heat.replay,
  );
  const replays = new Set(data.ratio_by_keys.map((point) => point.replay));
  await tab.evaluate('window.copied.length = 0');
  await tab.click('#ratio svg g.mark-symbol:last-of-type path');
  const [copied] = await tab.evaluate('window.copied');
  if (!replays.has(copied)) lines.push(`a point copied ${copied}`);
  const said = await tab.evaluate(`document.getElementById('announcement').textContent`);
  if (said !== `Copied: ${copied}`) lines.push(`the announcement says: ${said}`);
  return lines;
}

/** Every digit of a witness is there, as a decimal and as the bits. */
async function witnessDigits(tab, data) {
  const rows =
    await tab.evaluate(`[...document.querySelectorAll('#witnesses tbody tr')].map((row) => [2, 3].map((i) =>
    [...row.cells[i].children].map((line) => line.textContent)))`);
  const shown = (value) =>
    ({nan: 'NaN', inf: '\u221E'})[value] ?? String(value).replace('-', '\u2212');
  const wanted = data.witnesses.map((each) => [
    [shown(each.got), each.got_hex],
    [shown(each.want), each.want_hex],
  ]);
  return JSON.stringify(rows) === JSON.stringify(wanted)
    ? []
    : [`${JSON.stringify(rows)} instead of ${JSON.stringify(wanted)}`];
}

async function tips(tab, data) {
  const point = await tab.centre('#heat svg .mark-rect path[fill="var(--heat-bad)"]');
  await tab.send('Input.dispatchMouseEvent', {type: 'mouseMoved', x: point.x - 3, y: point.y});
  await tab.send('Input.dispatchMouseEvent', {type: 'mouseMoved', ...point});
  const tip = await tab.evaluate(
    `({hidden: document.getElementById('tip').hidden, text: document.getElementById('tip').textContent})`,
  );
  const row = data.heat.rows[data.heat.cells.find((cell) => cell[2] > 1)[0]];
  return tip.hidden || !tip.text.includes(row) ? [`the tip of a cell says: ${tip.text}`] : [];
}

/** No name and no text became markup or code. */
async function hostileNames(tab, data) {
  const lines = [];
  if ((await tab.evaluate('window.broken')) !== undefined) lines.push('a text ran as a script');
  const {images, scripts, bold} =
    await tab.evaluate(`({images: document.querySelectorAll('img').length,
    scripts: document.querySelectorAll('script').length, bold: document.querySelectorAll('pre b').length})`);
  if (images !== 0 || scripts !== 3 || bold !== 0)
    lines.push(`elements from data: ${images} images, ${scripts} scripts, ${bold} bold`);
  const hostile = data.kernels[1].name;
  for (const part of [
    '#head',
    '#violations',
    '#laws',
    '#witnesses',
    '#bits',
    '#environment',
    '#history',
    '#accuracy',
  ]) {
    if (
      !(await tab.evaluate(
        `document.querySelector('${part}').textContent.includes(${JSON.stringify(hostile)})`,
      ))
    ) {
      lines.push(`${part} does not show the name of the kernel`);
    }
  }
  return lines;
}

async function sortColumns(tab) {
  const read = () =>
    tab.evaluate(
      `[...document.querySelectorAll('#accuracy tbody tr')].map((row) => Number(row.cells[5].textContent))`,
    );
  const header = '#accuracy thead th:nth-child(6)';
  await tab.click(`${header} button`);
  const falling = await read();
  const sort = await tab.evaluate(`document.querySelector('${header}').getAttribute('aria-sort')`);
  await tab.click(`${header} button`);
  const rising = await read();
  const isFalling =
    falling.length > 3 && falling.every((value, i) => i === 0 || value <= falling[i - 1]);
  return isFalling && sort === 'descending' && rising.join() === [...falling].reverse().join()
    ? []
    : [`sorted: ${falling} / ${rising} (${sort})`];
}

async function switchScheme(tab) {
  const paper = () => tab.evaluate(`getComputedStyle(document.body).backgroundColor`);
  const light = await paper();
  await tab.click('#scheme');
  const dark = await paper();
  await tab.click('#scheme');
  return light !== dark && (await paper()) === light
    ? []
    : [`background ${light}, then ${dark}, then ${await paper()}`];
}

/** On paper: no controls, dark on white also from a dark screen. */
async function print(tab) {
  await tab.click('#scheme');
  await tab.send('Emulation.setEmulatedMedia', {media: 'print'});
  const seen =
    await tab.evaluate(`({paper: getComputedStyle(document.body).backgroundColor, ink: getComputedStyle(document.body).color,
    controls: [...document.querySelectorAll('#filter, .copy, .contents')].filter((each) => each.checkVisibility()).length})`);
  return seen.paper === 'rgb(255, 255, 255)' &&
    seen.ink === 'rgb(22, 25, 29)' &&
    seen.controls === 0
    ? []
    : [JSON.stringify(seen)];
}

// In this order on one page: the keyboard begins where a page begins, and paper ends it.
module.exports = {
  keyboard,
  hostileNames,
  filterRows,
  filterPlots,
  copyReplayLines,
  witnessDigits,
  tips,
  openByEnter,
  sortColumns,
  switchScheme,
  print,
};
