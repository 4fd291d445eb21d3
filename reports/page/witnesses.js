// The worst elements, in decimal and in hexadecimal, and the line that shows each of them again.

function witnessesSection(data, filter) {
  const title = 'Worst witnesses';
  if (data.witnesses.length === 0) return section('witnesses', title, notMeasured());
  const both = (decimal, hexadecimal) => [
    element('div', {}, code(decimal)),
    element('div', {class: 'quiet'}, code(hexadecimal)),
  ];
  const table = new Table({
    caption: 'Worst witnesses: got and exact value in decimal and hexadecimal',
    rows: [],
    limit: 10,
    columns: [
      {
        title: 'property',
        key: 'law',
        head: true,
        cell: (row) => [
          row.law,
          element('div', {class: 'quiet'}, nameText(row.kernel), ' ', row.dtype),
        ],
      },
      {title: 'element', key: 'element', cell: (row) => code(elementName(row))},
      {
        title: 'got',
        read: (row) => valueNumber(row.got),
        class: 'value',
        cell: (row) => both(valueText(row.got), row.got_hex),
      },
      {
        title: 'exact',
        read: (row) => valueNumber(row.want),
        class: 'value',
        cell: (row) => both(valueText(row.want), row.want_hex),
      },
      {title: 'error', key: 'error', number: true, cell: (row) => numberText(row.error)},
      {title: 'bound', key: 'bound', number: true, cell: (row) => numberText(row.bound)},
      {title: 'err/bound', key: 'ratio', number: true, cell: (row) => ratioCell(row.ratio)},
      {title: 'ulp', key: 'ulp', number: true, cell: (row) => memberText(row, 'ulp')},
      PROBLEM_COLUMN,
    ],
  });
  filter.whenChanged(() => table.setRows(data.witnesses.filter((row) => filter.finds(row))));
  return section('witnesses', title, table.node);
}

/** Some writers name the tensor in the element, some beside it. */
function elementName(row) {
  const name = row.element ?? '';
  return !isGiven(row.tensor) || name.startsWith(row.tensor) ? name : `${row.tensor}${name}`;
}

/** Digits as they came: a number of the JSON reads back, a text stays. */
function valueText(value) {
  if (!isGiven(value) || SPECIAL_NUMBERS.includes(value)) return specialText(value);
  return withMinus(String(value));
}

/** Values may come as texts, so that no digit is lost. */
function valueNumber(value) {
  return SPECIAL_NUMBERS.includes(value) ? toNumber(value) : Number(value);
}
