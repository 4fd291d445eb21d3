// Tables: a caption, sortable columns, only the first rows until asked for all, rows that open.

/**
 * columns: {title, key or read, cell(row) -> node or text, number, head (row header), sort: false}
 * options: {caption, columns, rows, limit, open(row) -> nodes, openName(row), rowClass(row), plain}
 */
class Table {
  constructor(options) {
    this.options = {limit: 20, rows: [], ...options};
    this.rows = this.options.rows;
    this.sorted = {column: null, descending: false};
    this.all = false;
    this.opened = new Set();
    this.body = element('tbody');
    this.headers = this.options.columns.map((column) => this.header(column));
    this.more = element('button', {
      type: 'button',
      class: 'plain more',
      onclick: () => this.showAll(),
    });
    const table = element(
      'table',
      {class: this.options.plain ? 'plain-table' : null},
      element('caption', {class: this.options.showCaption ? null : 'spoken'}, this.options.caption),
      element('thead', {}, element('tr', {}, this.headers)),
      this.body,
    );
    this.node = element('div', {class: 'table'}, scrollBox(table, this.options.caption), this.more);
    this.draw();
  }

  setRows(rows) {
    this.rows = rows;
    this.draw();
  }

  showAll() {
    const first = this.body.rows.length;
    this.all = true;
    this.draw();
    // The button is gone; its place in the order of the keyboard is the first new row.
    const next =
      this.body.rows[first]?.querySelector('button') ?? this.node.querySelector('.scroll');
    next?.focus();
  }

  header(column) {
    const classes = column.number ? 'number' : null;
    if (column.sort === false) return element('th', {scope: 'col', class: classes}, column.title);
    const button = element(
      'button',
      {type: 'button', class: 'sort', onclick: () => this.sortBy(column)},
      column.title,
    );
    return element('th', {scope: 'col', class: classes}, button);
  }

  sortBy(column) {
    const again = this.sorted.column === column;
    // Numbers are asked for because of the large ones.
    const descending = again ? !this.sorted.descending : Boolean(column.number);
    this.sorted = {column, descending};
    this.headers.forEach((header, i) => {
      const own = this.options.columns[i] === column;
      if (own) header.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      else header.removeAttribute('aria-sort');
    });
    this.draw();
  }

  inOrder() {
    const {column, descending} = this.sorted;
    if (column === null) return this.rows;
    const sign = descending ? -1 : 1;
    return [...this.rows].sort(
      (a, b) => sign * compareValues(valueIn(a, column), valueIn(b, column)),
    );
  }

  draw() {
    const rows = this.inOrder();
    const shown = this.all ? rows : rows.slice(0, this.options.limit);
    fill(
      this.body,
      shown.map((row) => this.row(row)),
    );
    if (rows.length === 0) fill(this.body, this.noRow());
    this.more.hidden = shown.length === rows.length;
    this.more.textContent = `Show all ${countText(rows.length)} rows`;
  }

  noRow() {
    return element(
      'tr',
      {class: 'no-row'},
      element('td', {colspan: this.options.columns.length}, 'nothing matches the filter'),
    );
  }

  row(row) {
    const cells = this.options.columns.map((column) => this.cell(row, column));
    const made = element('tr', {class: this.options.rowClass?.(row)}, cells);
    return this.options.open ? this.openable(row, made) : made;
  }

  cell(row, column) {
    const content = column.cell
      ? column.cell(row)
      : column.key === 'kernel'
        ? nameText(row.kernel)
        : row[column.key];
    const classes = [column.number && 'number', column.class].filter(Boolean).join(' ') || null;
    if (column.head) return element('th', {scope: 'row', class: classes}, content);
    return element('td', {class: classes}, isGiven(content) ? content : NONE);
  }

  /** A row with a button that opens a second row below it. */
  openable(row, made) {
    const inside = element('td', {colspan: this.options.columns.length});
    const below = element('tr', {class: 'opened-row', hidden: true}, inside);
    const button = element(
      'button',
      {type: 'button', class: 'opener', 'aria-expanded': 'false'},
      ...made.cells[0].childNodes,
    );
    made.cells[0].append(button);
    made.classList.add('openable');
    const key = this.options.openName(row);
    const show = (open) => {
      if (open && !inside.hasChildNodes()) fill(inside, this.options.open(row));
      below.hidden = !open;
      made.classList.toggle('open', open);
      button.setAttribute('aria-expanded', String(open));
      if (open) this.opened.add(key);
      else this.opened.delete(key);
    };
    made.addEventListener('click', (event) => {
      const other = event.target.closest('button, a, summary');
      if ((other === null || other === button) && String(window.getSelection()) === '')
        show(below.hidden);
    });
    if (this.opened.has(key)) show(true);
    return [made, below];
  }
}

function valueIn(row, column) {
  return column.read ? column.read(row) : row[column.key];
}

function compareValues(a, b) {
  const [first, second] = [sortNumber(a), sortNumber(b)];
  if (first !== null && second !== null) return first - second || 0;
  if (first !== null || second !== null) return first === null ? -1 : 1;
  return byName(a ?? '', b ?? '');
}

/** Infinities would give inf - inf; what is missing sorts first. */
function sortNumber(value) {
  if (typeof value !== 'number' && !SPECIAL_NUMBERS.includes(value)) return null;
  return Math.max(-Number.MAX_VALUE / 4, Math.min(Number.MAX_VALUE / 4, rank(value)));
}

/** A wide table scrolls inside its box, which the keyboard must reach too. */
function scrollBox(content, name) {
  return element(
    'div',
    {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name},
    content,
  );
}

/** The same table, folded: the data of a plot for who cannot see it. */
function foldedTable(summary, options) {
  const table = new Table({limit: 60, plain: true, ...options});
  const details = element(
    'details',
    {class: 'data-of-plot'},
    element('summary', {}, summary),
    table.node,
  );
  return {node: details, setRows: (rows) => table.setRows(rows)};
}
