// Where and how it ran, and what the kernels declare.

function environmentSection(data) {
  const rows = [
    ['command', data.command],
    ['started', data.started],
    ['seed', data.seed],
    ['tier', data.tier],
    ['jobs', data.jobs],
    ...data.environment,
  ].filter(([, value]) => isGiven(value));
  if (rows.length === 0 && data.kernels.length === 0)
    return section('environment', 'Environment', notMeasured());
  return section(
    'environment',
    'Environment',
    rows.length === 0
      ? null
      : new Table({
          caption: 'Environment of the run',
          rows,
          limit: 60,
          plain: true,
          columns: [
            {title: 'what', read: (row) => row[0], head: true, sort: false, cell: (row) => row[0]},
            {title: 'value', sort: false, cell: (row) => breakable(row[1])},
          ],
        }).node,
    data.kernels.length === 0
      ? null
      : [
          element('h3', {}, 'Kernels'),
          new Table({
            caption: 'What the kernels declare',
            rows: data.kernels,
            limit: 30,
            plain: true,
            columns: [
              {title: 'kernel', key: 'name', head: true},
              {title: 'version', key: 'version'},
              {title: 'declares', key: 'declares', sort: false},
            ],
          }).node,
        ],
  );
}
