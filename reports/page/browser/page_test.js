// Opens rendered pages in a headless Chromium and uses them: node page_test.js CHROMIUM RENDERER FOLDER
// RENDERER turns a JSON into a page; pictures and pages are written to FOLDER.
'use strict';

const {execFileSync} = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const url = require('node:url');
const {Chromium} = require('./chromium.js');
const checks = require('./checks.js');
const uses = require('./uses.js');

const [program, renderer, folder] = process.argv.slice(2);
const failures = [];
let asked = 0;

/** Every check counts, so that a test which checks nothing is seen. */
function expectNone(what, lines) {
  ++asked;
  for (const line of lines) failures.push(`${what}: ${line}`);
}

function render(name, data = path.join(__dirname, `${name}.json`)) {
  const page = path.join(folder, `${name}.html`);
  execFileSync(renderer, [data, page]);
  return {address: url.pathToFileURL(page).href, data: JSON.parse(fs.readFileSync(data, 'utf8'))};
}

// What the page copies is caught here: a headless browser may have no clipboard.
const CATCH_COPIES = `window.copied = [];
  Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied.push(text); }}});`;

async function open(browser, address, {width = 1280, scheme = 'light'} = {}) {
  const tab = await browser.tab();
  for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Accessibility'])
    await tab.send(`${domain}.enable`);
  await tab.send('Page.addScriptToEvaluateOnNewDocument', {source: CATCH_COPIES});
  await tab.send('Emulation.setDeviceMetricsOverride', {
    width,
    height: 900,
    deviceScaleFactor: 1,
    mobile: width < 500,
  });
  await tab.send('Emulation.setEmulatedMedia', {
    features: [{name: 'prefers-color-scheme', value: scheme}],
  });
  const loaded = tab.next('Page.loadEventFired');
  await tab.send('Page.navigate', {url: address});
  await loaded;
  await tab.until(`['drawn', 'failed'].includes(document.documentElement.dataset.state)`);
  return tab;
}

/** What holds of every page in every width and scheme. */
async function checkAny(tab, what, address, width) {
  expectNone(what, await checks.overflow(tab, width));
  expectNone(what, await checks.headings(tab));
  expectNone(what, await checks.contrasts(tab));
  expectNone(what, checks.troubles(tab.events));
  expectNone(what, checks.foreignRequests(tab.events, address));
}

const LOOKS = {
  light: [1280, 'light'],
  dark: [1280, 'dark'],
  phone: [360, 'light'],
  phone_dark: [360, 'dark'],
};

/** The same run of 25 kernels and eleven times as many laws. */
function manyKernels() {
  const data = JSON.parse(fs.readFileSync(path.join(__dirname, 'all_sections.json'), 'utf8'));
  const kernels = Array.from({length: 25}, (_, i) => `builtin:kernel_${i}`);
  const ofAll = (items) =>
    kernels.flatMap((kernel) =>
      items.filter((item) => item.kernel === 'builtin:simd').map((item) => ({...item, kernel})),
    );
  for (const name of [
    'laws',
    'cases',
    'ratio_by_keys',
    'ulp',
    'bias',
    'bits',
    'history',
    'accuracy',
  ])
    data[name] = ofAll(data[name]);
  for (const name of ['laws', 'cases', 'power']) {
    data[name] = data[name].flatMap((item) =>
      Array.from({length: 11}, (_, i) => ({...item, law: `${item.law}_${i}`})),
    );
  }
  data.kernels = kernels.map((name) => ({name}));
  const file = path.join(folder, 'many_kernels.json');
  fs.writeFileSync(file, JSON.stringify(data));
  return file;
}

async function everyLook(browser, {name, looks, plots, roles, file}) {
  const {address} = render(name, file);
  for (const look of looks) {
    const [width, scheme] = LOOKS[look];
    const what = `${name} ${look}`;
    const tab = await open(browser, address, {width, scheme});
    expectNone(what, await checks.undrawnPlots(tab, plots));
    expectNone(what, await checks.namelessParts(tab, roles));
    await tab.picture(path.join(folder, `${name}_${look}.png`));
    await checkAny(tab, what, address, width);
    await tab.close();
  }
}

/** One page that is used as people would, all in turn; afterwards it must still be in order. */
async function useAll(browser, name) {
  const {address, data} = render(name);
  const tab = await open(browser, address);
  for (const [use, check] of Object.entries(uses)) expectNone(use, await check(tab, data));
  await checkAny(tab, 'after all uses', address, 1280);
  await tab.close();
}

async function main() {
  fs.mkdirSync(folder, {recursive: true});
  const browser = new Chromium(program);
  try {
    const plots = ['ratio', 'ulp', 'heat', 'bias', 'history', 'sweep'];
    const roles = [
      'table',
      'columnheader',
      'rowheader',
      'button',
      'combobox',
      'searchbox',
      'heading',
      'region',
      'main',
      'banner',
      'navigation',
      'search',
      'graphics-document',
    ];
    await everyLook(browser, {name: 'all_sections', looks: Object.keys(LOOKS), plots, roles});
    await everyLook(browser, {
      name: 'many_kernels',
      looks: ['light', 'phone'],
      plots,
      roles,
      file: manyKernels(),
    });
    await everyLook(browser, {
      name: 'killed_run',
      looks: ['light', 'phone_dark'],
      plots: [],
      roles: ['heading', 'button', 'main'],
    });
    await useAll(browser, 'all_sections');
  } finally {
    await browser.close();
  }
  for (const line of new Set(failures)) console.error(`FAIL ${line}`);
  console.log(`${asked} checks, ${failures.length} failures; pictures in ${folder}`);
  process.exitCode = failures.length > 0 || asked === 0 ? 1 : 0;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
