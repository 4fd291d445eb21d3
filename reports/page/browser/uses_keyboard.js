// The page without a mouse. Each use returns what went wrong, as lines.
'use strict';

const FOCUSED = `(() => { const each = document.activeElement; const style = getComputedStyle(each);
  return {tag: each.tagName, id: each.id, name: each.className, text: (each.getAttribute('aria-label') ?? each.textContent).slice(0, 40),
    ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1.5}; })()`;

/** By Tab from the top to the end: every control is reached once, and each shows that it is. */
async function keyboard(tab) {
  const lines = [];
  const controls =
    await tab.evaluate(`[...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
    .filter((each) => !each.disabled && each.checkVisibility()).length`);
  const stops = [];
  for (let i = 0; i < controls + 5; ++i) {
    await tab.press('Tab');
    const stop = await tab.evaluate(FOCUSED);
    if (stop.tag === 'BODY') break;
    stops.push(stop);
  }
  if (stops.length !== controls)
    lines.push(`${stops.length} stops of the keyboard, ${controls} controls`);
  for (const stop of stops)
    if (!stop.ring) lines.push(`no ring around ${stop.tag} ${stop.id} ${stop.name} ${stop.text}`);
  if (!stops.some((stop) => stop.id === 'filter-text'))
    lines.push('the text of the filter is not reached');
  return lines;
}

/** A law opens and closes by Enter; its cases are there and the focus stays. */
async function openByEnter(tab, data) {
  await tab.evaluate(`document.querySelector('#laws .opener').focus()`);
  const state = () =>
    tab.evaluate(`({open: document.querySelector('#laws .opener').getAttribute('aria-expanded'),
    law: document.querySelector('#laws .opener').textContent, rows: document.querySelectorAll('#laws .opened-row:not([hidden]) .table:last-child tbody tr').length,
    focused: document.activeElement === document.querySelector('#laws .opener')})`);
  const lines = [];
  await tab.press('Enter');
  const opened = await state();
  const cases = data.cases.filter((each) => each.law === opened.law).length;
  if (opened.open !== 'true' || opened.rows !== Math.min(20, cases) || !opened.focused)
    lines.push(`after Enter: ${JSON.stringify(opened)}, ${cases} cases`);
  await tab.press('Enter');
  const closed = await state();
  if (closed.open !== 'false' || closed.rows !== 0)
    lines.push(`after the second Enter: ${JSON.stringify(closed)}`);
  await tab.click('#laws tbody tr td:nth-child(2)');
  if ((await state()).open !== 'true') lines.push('a click into the row does not open it');
  return lines;
}

module.exports = {keyboard, openByEnter};
