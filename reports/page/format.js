// Numbers as people read them. A number that is not finite comes as "inf", "-inf" or "nan".

const NARROW_SPACE = '\u202F';
const SPECIAL_NUMBERS = ['inf', '-inf', 'nan'];
const NONE = '\u2013';

function toNumber(value) {
  if (value === 'inf') return Infinity;
  if (value === '-inf') return -Infinity;
  return typeof value === 'number' ? value : NaN;
}

function isGiven(value) {
  return value !== undefined && value !== null && value !== '';
}

/** What is not finite as a sign; null for what is. */
function specialText(value) {
  if (!isGiven(value)) return NONE;
  const number = toNumber(value);
  if (Number.isFinite(number)) return null;
  if (Number.isNaN(number)) return 'NaN';
  return number > 0 ? '\u221E' : '\u2212\u221E';
}

function withMinus(text) {
  return text.replace(/^-/, '\u2212');
}

/** A whole number in groups of three digits. */
function countText(value) {
  const special = specialText(value);
  if (special !== null) return special;
  const digits = Math.round(Math.abs(value))
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE);
  return (value < 0 ? '\u2212' : '') + digits;
}

/** Three significant digits: 0.412, 3.79e3, 2.6e-5. */
function numberText(value, digits = 3) {
  const special = specialText(value);
  if (special !== null) return special;
  const number = toNumber(value);
  if (number === 0) return '0';
  const size = Math.abs(number);
  if (size >= 1e-3 && size < 1e4) return withMinus(number.toPrecision(digits).replace(/e\+?/, 'e'));
  return withMinus(number.toExponential(digits - 1).replace('e+', 'e'));
}

const NAN_IS_UNMEASURED = ['ulp', 'ulp_median', 'ulp_q99', 'ulp_max', 'rms_ulp', 'twin_ratio'];

/** A member of a row: NaN is a failure, but of some members it says that they were not measured. */
function memberText(row, key) {
  return NAN_IS_UNMEASURED.includes(key) && row[key] === 'nan' ? NONE : numberText(row[key]);
}

/** err/bound: never "1" for what is not 1, because 1 decides. */
function ratioText(value) {
  const number = toNumber(value);
  if (number !== 1 && numberText(value) === '1.00')
    return number < 1 ? '0.999\u2026' : '1.00\u2026';
  return numberText(value);
}

function percentText(share) {
  if (!Number.isFinite(share)) return NONE;
  const percent = 100 * share;
  // What is not all must not read as all.
  if (percent > 99.9 && percent < 100) return '99.9';
  return percent === 100 || percent === 0
    ? percent.toFixed(0)
    : percent.toFixed(percent < 10 ? 2 : 1);
}

function signedPercentText(change) {
  if (!Number.isFinite(change)) return NONE;
  const percent = Math.round(100 * change);
  return (
    (percent > 0 ? '+' : percent < 0 ? '\u2212' : '\u00B1') + Math.abs(percent) + NARROW_SPACE + '%'
  );
}

/** From one number to a later one: +39 %, or a factor where a percentage says nothing. */
function changeText(before, now) {
  const factor = toNumber(now) / toNumber(before);
  if (Number.isFinite(factor) && factor < 10) return signedPercentText(factor - 1);
  return Number.isFinite(factor) ? `\u00D7 ${numberText(factor)}` : `to ${numberText(now)}`;
}

function secondsText(value) {
  const special = specialText(value);
  if (special !== null) return special;
  if (value >= 120) return `${countText(Math.floor(value / 60))} min ${Math.round(value % 60)} s`;
  return `${numberText(value)} s`;
}

function dateText(text) {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(String(text ?? ''));
  return match ? `${match[1]} ${match[2]} UTC` : String(text ?? '');
}

function plural(number, noun) {
  return `${countText(number)} ${noun}${number === 1 ? '' : noun.endsWith('s') ? 'es' : 's'}`;
}

/** The largest of what `read` gives; NaN counts as larger than all, because it is a failure. */
function largestBy(items, read) {
  let best = null;
  for (const item of items) {
    if (!isGiven(read(item))) continue;
    if (best === null || rank(read(item)) > rank(read(best))) best = item;
  }
  return best;
}

function rank(value) {
  const number = toNumber(value);
  return Number.isNaN(number) ? Infinity : number;
}

function sumBy(items, read) {
  let sum = 0;
  for (const item of items) sum += Number(read(item)) || 0;
  return sum;
}

/** The items by the text that `read` gives, in the order of first sight. */
function groupBy(items, read) {
  const groups = new Map();
  for (const item of items) {
    const key = read(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}
