// Kernels on tensors of trained models.

function accuracySection(data, filter) {
  const title = 'Accuracy on tensors';
  if (data.accuracy.length === 0) return section('accuracy', title, notMeasured());
  const value = (columnTitle, key) => ({
    title: columnTitle,
    key,
    number: true,
    cell: (row) => memberText(row, key),
  });
  const ratio = (columnTitle, key) => ({
    title: columnTitle,
    key,
    number: true,
    cell: (row) => ratioCell(row[key]),
  });
  const table = new Table({
    caption: 'Accuracy of each kernel, dtype and tensor',
    rows: [],
    limit: 24,
    rowClass: (row) => (row.violations > 0 ? 'violated' : null),
    columns: [
      {title: 'kernel', key: 'kernel', head: true},
      {title: 'dtype', key: 'dtype'},
      {
        title: 'tensor',
        key: 'tensor',
        cell: (row) => element('span', {title: row.problem}, row.tensor),
      },
      {title: 'outputs', key: 'outputs', number: true, cell: (row) => countText(row.outputs)},
      {
        title: 'violated',
        key: 'violations',
        number: true,
        cell: (row) => quietZero(row.violations, 'bad'),
      },
      ratio('err/bound', 'worst_ratio'),
      ratio('lse err/bound', 'worst_lse_ratio'),
      value('error', 'worst_error'),
      value('ulp median', 'ulp_median'),
      value('ulp 99 %', 'ulp_q99'),
      value('ulp max', 'ulp_max'),
      value('twin ratio', 'twin_ratio'),
      {title: 'worst element', key: 'worst_element', cell: (row) => code(row.worst_element)},
      PROBLEM_COLUMN,
    ],
  });
  filter.whenChanged(() => table.setRows(data.accuracy.filter((row) => filter.finds(row))));
  const hasTwin = data.accuracy.some((row) => isGiven(row.twin_ratio));
  return section(
    'accuracy',
    title,
    table.node,
    hasTwin
      ? element(
          'p',
          {class: 'note'},
          'Twin ratio: error of the kernel over the error of the plain evaluation in the same dtype, ',
          'the rule of FlashAttention\u2019s tests (2 is their limit).',
        )
      : null,
  );
}
