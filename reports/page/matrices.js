// Two matrices that are tables: equality of bits, and the power of the checks.

const BIT_KINDS = {
  rerun: 'run again',
  batch: 'other batch',
  position: 'other position',
  split: 'other splits',
  threads: 'other threads',
};

function bitsSection(data, filter) {
  const title = 'Equal bits';
  if (data.bits.length === 0) return section('bits', title, notMeasured());
  const kinds = [
    ...new Set([
      ...Object.keys(BIT_KINDS).filter((kind) => data.bits.some((item) => item.kind === kind)),
      ...data.bits.map((item) => item.kind),
    ]),
  ];
  const table = new Table({
    caption: 'Equality of bits: kernel and dtype by what was changed',
    rows: [],
    limit: 40,
    columns: [
      {title: 'kernel', key: 'kernel', head: true},
      {title: 'dtype', key: 'dtype'},
      ...kinds.map((kind) => ({
        title: BIT_KINDS[kind] ?? kind,
        read: (row) => bitsShare(row.kinds[kind]),
        class: 'bits',
        cell: (row) => bitsCell(row.kinds[kind]),
      })),
    ],
  });
  filter.whenChanged(() => {
    const shown = data.bits.filter((item) => filter.passes(item, ['kernel', 'dtype']));
    const rows = [...groupBy(shown, (item) => `${item.kernel}\n${item.dtype}`).values()].map(
      (items) => ({
        kernel: items[0].kernel,
        dtype: items[0].dtype,
        kinds: Object.fromEntries(items.map((item) => [item.kind, item])),
      }),
    );
    table.setRows(rows);
  });
  return section(
    'bits',
    title,
    table.node,
    element(
      'p',
      {class: 'note'},
      'The same case run in another way. ',
      element('b', {}, 'Required'),
      ': the kernel declares that the bits do not change; where they do, a law is broken. ',
      'Elsewhere a difference is information.',
    ),
  );
}

function bitsShare(item) {
  const runs = (item?.equal ?? 0) + (item?.differ ?? 0);
  return runs > 0 ? item.equal / runs : NaN;
}

function bitsCell(item) {
  if (!item) return NONE;
  const runs = item.equal + item.differ;
  if (runs === 0) return element('span', {class: 'quiet'}, item.reason || 'not run');
  const kind = item.differ === 0 ? 'ok' : item.required ? 'bad' : 'info';
  const text =
    item.differ === 0
      ? `${countText(runs)} equal`
      : `${countText(item.differ)} of ${countText(runs)} differ`;
  return [
    element('span', {class: `mark mark-${kind}`}, text),
    item.required ? ' required' : null,
    isGiven(item.reason) ? element('div', {class: 'quiet'}, item.reason) : null,
  ];
}

// -- power ----------------------------------------------------------------------------------------

function powerSection(data, filter) {
  const title = 'Power of the checks';
  if (data.power.length === 0) return section('power', title, notMeasured());
  const place = element('div', {});
  filter.whenChanged(() =>
    fill(place, powerTable(data.power.filter((item) => filter.passes(item, ['law'])))),
  );
  return section(
    'power',
    title,
    element(
      'p',
      {class: 'note'},
      'Wrong outputs were given to each law in place of those of the kernel. ',
      'A cell says how many of 100 were refused; ',
      'where it is less than 100, a kernel with this fault may look right to this law.',
    ),
    place,
  );
}

/** The longer side goes down the page. */
function powerTable(items) {
  const laws = [...new Set(items.map((item) => item.law))];
  const standIns = [...new Set(items.map((item) => item.stand_in))];
  const isDown = laws.length > standIns.length;
  const [down, across] = isDown ? ['law', 'stand_in'] : ['stand_in', 'law'];
  const columnsOf = isDown ? standIns : laws;
  const rows = [...groupBy(items, (item) => item[down])].map(([name, group]) => ({
    name,
    all: powerSum(group),
    cells: Object.fromEntries(
      [...groupBy(group, (item) => item[across])].map(([key, some]) => [key, powerSum(some)]),
    ),
  }));
  const value = (title, read) => ({
    title,
    read: (row) => read(row)?.power ?? NaN,
    number: true,
    class: 'power',
    cell: (row) => powerCell(read(row)),
  });
  const table = new Table({
    caption: 'Refused wrong outputs, %',
    rows,
    limit: 100,
    columns: [
      {title: isDown ? 'property' : 'wrong output', key: 'name', head: true},
      value('all', (row) => row.all),
      ...columnsOf.map((name) => value(name, (row) => row.cells[name])),
    ],
  });
  table.node.classList.add('power-table');
  return table.node;
}

function powerSum(items) {
  const trials = sumBy(items, (item) => item.trials);
  const accepted = sumBy(items, (item) => item.accepted);
  return {trials, accepted, power: trials > 0 ? 1 - accepted / trials : NaN};
}

function powerCell(sum) {
  if (!sum || sum.trials === 0) return element('span', {class: 'zero'}, '\u00B7');
  const kind =
    sum.accepted === 0 ? 'full' : sum.power >= 0.9 ? 'most' : sum.power >= 0.5 ? 'some' : 'few';
  return element(
    'span',
    {
      class: `refused refused-${kind}`,
      title: `${countText(sum.accepted)} of ${countText(sum.trials)} accepted`,
    },
    percentText(sum.power),
  );
}
