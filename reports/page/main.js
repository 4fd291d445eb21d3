// The page, from top to bottom.

function sections(data, filter) {
  const styles = dtypeStyles(data);
  return [
    violationsSection(data, filter),
    lawsSection(data, filter),
    ratioSection(data, filter, styles),
    ulpSection(data, filter, styles),
    heatSection(data),
    biasSection(data, filter, styles),
    bitsSection(data, filter),
    powerSection(data, filter),
    witnessesSection(data, filter),
    historySection(data, filter),
    accuracySection(data, filter),
    sweepSection(data, filter, styles),
    environmentSection(data),
  ].filter((made) => made !== null);
}

/** Sections that hold nothing stand back in the list of contents. */
function contents(made) {
  return element(
    'ul',
    {},
    made.map((part) => {
      const isEmpty = part.classList.contains('empty-section');
      return element(
        'li',
        {},
        element(
          'a',
          {href: `#${part.id}`, class: isEmpty ? 'empty' : null},
          part.querySelector('h2').textContent,
        ),
      );
    }),
  );
}

/** Light, dark, or as the system says; the choice is kept only while the page is open. */
function schemeSwitch(button) {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const isDark = () =>
    (document.documentElement.dataset.scheme ?? (dark.matches ? 'dark' : 'light')) === 'dark';
  const name = () => {
    button.textContent = isDark() ? 'Light colours' : 'Dark colours';
  };
  button.addEventListener('click', () => {
    document.documentElement.dataset.scheme = isDark() ? 'light' : 'dark';
    name();
  });
  dark.addEventListener('change', name);
  name();
}

function start() {
  schemeSwitch(document.getElementById('scheme'));
  const data = readData();
  const filter = new Filter(data);
  fillHead(document.getElementById('head'), data);
  if (isFilterable(data)) document.getElementById('filter').append(filterForm(filter));
  const made = sections(data, filter);
  document.getElementById('contents').append(contents(made));
  document.getElementById('sections').append(...made);
  // Without a plot there is nothing to wait for.
  document.documentElement.dataset.state ??= 'drawn';
}

try {
  start();
} catch (error) {
  document.documentElement.dataset.state = 'failed';
  announce(`This page cannot show its data: ${error.message}`);
  throw error;
}
