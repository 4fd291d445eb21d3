// The filter of the page. An item is measured against those of its members that it has: a law has
// no mask, so a choice of mask does not hide it here.

const FILTER_FIELDS = [
  {name: 'law', label: 'Property', all: 'all properties'},
  {name: 'kernel', label: 'Kernel', all: 'all kernels'},
  {name: 'dtype', label: 'Dtype', all: 'all dtypes'},
  {name: 'mask', label: 'Mask', all: 'all masks'},
  {name: 'outcome', label: 'Status', all: 'any status'},
];

class Filter {
  constructor(data) {
    this.chosen = {law: '', kernel: '', dtype: '', mask: '', outcome: '', text: ''};
    this.listeners = [];
    this.options = {
      law: distinct([...data.laws, ...data.cases].map((item) => item.law)),
      kernel: kernelNames(data),
      dtype: distinct(
        [
          ...data.cases,
          ...data.ulp,
          ...data.bias,
          ...data.accuracy,
          ...data.sweep,
          ...data.bits,
        ].map((item) => item.dtype),
      ).sort(byDtype),
      mask: distinct([...data.cases, ...data.ratio_by_keys].map((item) => item.mask)),
      outcome: distinct([...data.cases.map((item) => item.outcome), ...outcomesOfLaws(data.laws)]),
    };
  }

  /** Calls `listener` now and after every change. */
  whenChanged(listener) {
    this.listeners.push(listener);
    listener();
  }

  set(name, value) {
    this.chosen[name] = value;
    for (const listener of this.listeners) listener();
  }

  clear() {
    for (const name of Object.keys(this.chosen)) this.chosen[name] = '';
    for (const listener of this.listeners) listener();
  }

  get isActive() {
    return Object.values(this.chosen).some((value) => value !== '');
  }

  /** True if no choice speaks against the item; `fields` are those that count. */
  passes(item, fields = FILTER_FIELDS.map((field) => field.name)) {
    return fields.every(
      (name) =>
        this.chosen[name] === '' || !isGiven(item[name]) || item[name] === this.chosen[name],
    );
  }

  /** The same, and the free text stands in the item. */
  finds(item) {
    return this.passes(item) && this.hasText(item);
  }

  hasText(item) {
    const words = this.chosen.text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    if (words.length === 0) return true;
    return words.every((word) => searchText(item).includes(word));
  }
}

const searchTexts = new WeakMap();

/** All texts of an item, in small letters. */
function searchText(item) {
  if (!searchTexts.has(item)) {
    searchTexts.set(
      item,
      Object.values(item)
        .filter((value) => typeof value === 'string')
        .join('\n')
        .toLowerCase(),
    );
  }
  return searchTexts.get(item);
}

function kernelNames(data) {
  return distinct([
    ...data.kernels.map((kernel) => kernel.name),
    ...[...data.laws, ...data.accuracy, ...data.sweep].map((item) => item.kernel),
  ]);
}

function outcomesOfLaws(laws) {
  const counts = {ok: 'ok', weak: 'weak', unproven: 'unproven', skipped: 'skipped', known: 'known'};
  return Object.keys(counts).filter((name) => laws.some((law) => law[name] > 0));
}

/** True if there is something that a filter could hide. */
function isFilterable(data) {
  return ['laws', 'cases', 'ratio_by_keys', 'witnesses', 'accuracy', 'sweep'].some(
    (name) => data[name].length > 0,
  );
}

/** The form; `filter.whenChanged` keeps it in step. */
function filterForm(filter) {
  const controls = FILTER_FIELDS.filter((field) => filter.options[field.name].length > 1).map(
    (field) => filterChoice(filter, field),
  );
  const text = element('input', {
    type: 'search',
    id: 'filter-text',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'problem, kernel, reason \u2026',
    oninput: () => filter.set('text', text.value),
  });
  const clear = element(
    'button',
    {
      type: 'button',
      class: 'plain',
      onclick: () => {
        filter.clear();
        text.focus();
      },
    },
    'Clear',
  );
  const count = element('output', {id: 'filter-count', 'aria-live': 'polite'});
  filter.whenChanged(() => {
    if (text.value !== filter.chosen.text) text.value = filter.chosen.text;
    clear.disabled = !filter.isActive;
  });
  return element(
    'form',
    {
      role: 'search',
      class: 'filter',
      'aria-label': 'Filter of the whole page',
      onsubmit: (event) => event.preventDefault(),
    },
    element(
      'div',
      {class: 'filter-fields'},
      controls,
      element('label', {class: 'field field-text'}, element('span', {}, 'Text'), text),
      clear,
    ),
    count,
  );
}

function filterChoice(filter, field) {
  const select = element(
    'select',
    {id: `filter-${field.name}`, onchange: () => filter.set(field.name, select.value)},
    element('option', {value: ''}, field.all),
    filter.options[field.name].map((value) => element('option', {value}, value)),
  );
  filter.whenChanged(() => {
    select.value = filter.chosen[field.name];
    select.classList.toggle('active', select.value !== '');
  });
  return element('label', {class: 'field'}, element('span', {}, field.label), select);
}
