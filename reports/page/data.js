// The data of the run, with every list there, so that no section asks whether it is.

const LISTS = [
  'kernels',
  'environment',
  'laws',
  'cases',
  'ratio_by_keys',
  'ulp',
  'bias',
  'bits',
  'power',
  'witnesses',
  'violations',
  'history',
  'accuracy',
  'sweep',
];

function readData() {
  const data = JSON.parse(document.getElementById('page-data').textContent);
  if (data.format !== 'attest-page' || data.version !== 1) {
    throw new Error(
      `data of the form ${data.format} ${data.version}; this page reads attest-page 1`,
    );
  }
  for (const name of LISTS) if (!Array.isArray(data[name])) data[name] = [];
  for (const name of ['cases', 'ratio_by_keys', 'witnesses', 'accuracy', 'sweep', 'violations']) {
    for (const item of data[name]) completeProblem(item);
  }
  return data;
}

/** The mask and the dtype stand in the problem text; lists that lack them get them from there. */
function completeProblem(item) {
  const words = String(item.problem ?? problemOfText(item.text)).split(/\s+/);
  const word = (name) => words.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  item.mask =
    maskFamily(item.mask || word('mask') || 'none') + (isGiven(word('win')) ? ' + window' : '');
  if (!isGiven(item.dtype)) item.dtype = words.find((each) => /^(f|bf|fp)\d/.test(each));
}

function problemOfText(text) {
  return /^\s*problem\s+(.*)$/m.exec(String(text ?? ''))?.[1] ?? '';
}

/** A mask without its numbers and files, as the filter offers it: causal:off=7 is causal:off. */
function maskFamily(mask) {
  return String(mask)
    .replace(/^(prefix|doc|chunk|bits|block|add):.*$/, '$1')
    .replace(/=.*$/, '');
}

function distinct(values) {
  return [...new Set(values.filter(isGiven))].sort(byName);
}

/** tensor2 before tensor10. */
function byName(a, b) {
  return String(a).localeCompare(String(b), 'en', {numeric: true});
}

// -- dtypes ---------------------------------------------------------------------------------------

const DTYPE_ORDER = ['f64', 'f32', 'bf16', 'f16', 'f8e4m3', 'f8e5m2'];
const SHAPES = ['diamond', 'circle', 'square', 'triangle-up', 'cross', 'triangle-down'];

/** dtype -> {color, shape}: the same in every plot, whatever the filter shows. */
function dtypeStyles(data) {
  const seen = distinct(
    [
      ...data.cases,
      ...data.ratio_by_keys,
      ...data.ulp,
      ...data.bias,
      ...data.accuracy,
      ...data.sweep,
    ].map((item) => item.dtype),
  );
  const others = seen.filter((dtype) => !DTYPE_ORDER.includes(dtype));
  const styles = new Map();
  [...DTYPE_ORDER, ...others].forEach((dtype, i) => {
    const place = i < DTYPE_ORDER.length ? i : 2 + (i % 4);
    styles.set(dtype, {color: `var(--series-${place})`, shape: SHAPES[place]});
  });
  return styles;
}

function byDtype(a, b) {
  const place = (dtype) =>
    ((DTYPE_ORDER.indexOf(dtype) + 100) % 100) + (DTYPE_ORDER.includes(dtype) ? 0 : 1);
  return place(a) - place(b) || byName(a, b);
}
