// The three lists of a run: reports as a tree, flat reports as a table, the console.
// Each has a name, an element, its entries of the feed with their texts, and the text for copying.

/** Keeps a list scrolled to its end, also when it is first shown, until the user scrolls away from there. */
class FollowEnd {
  constructor(element) {
    this.element = element;
    this.follows = true;
    element.addEventListener('scroll', () => {
      this.follows = element.scrollHeight - element.scrollTop - element.clientHeight < 30;
    });
    new ResizeObserver(() => this.apply()).observe(element);
  }

  apply() {
    if (this.follows) this.element.scrollTop = this.element.scrollHeight;
  }
}

/** Rows by number: draws the new ones, removes those that left the window, keeps the others as they are. */
class Rows {
  constructor(element, makeRow) {
    this.element = element;
    this.makeRow = makeRow;
    this.made = new Map();
  }

  draw(entries) {
    const wanted = new Set(entries.map(({ index }) => index));
    for (const [index, row] of this.made) if (!wanted.has(index)) (row.remove(), this.made.delete(index));
    let before = null;
    for (const entry of entries.toReversed()) {
      let row = this.made.get(entry.index);
      if (!row) {
        this.made.set(entry.index, (row = this.makeRow(entry)));
        this.element.insertBefore(row, before);
      }
      before = row;
    }
  }

  clear() {
    this.made.clear();
    this.element.replaceChildren();
  }
}

class ReportTree {
  constructor(store) {
    this.name = 'Reports';
    this.store = store;
    this.element = make('div', { role: 'tree', class: 'run-list', 'aria-label': 'Reports' });
    this.rows = new Rows(this.element, ({ index, item }) =>
      treeItem(store, String(index), make('span', { class: 'run-index' }, index), item, 1),
    );
    this.element.addEventListener('keydown', (event) => treeKey(this.element, event));
    this.element.addEventListener('click', ({ target }) =>
      focusItem(this.element, target.closest('[role=treeitem]')),
    );
  }

  entries() {
    return this.store.reports.entries.map((entry) => ({
      ...entry,
      text: (entry.text ??= textOf(entry.item)),
    }));
  }

  draw(entries) {
    this.rows.draw(entries);
    if (!this.element.querySelector("[tabindex='0']"))
      this.element.firstElementChild?.setAttribute('tabindex', '0');
  }

  copy(entries) {
    return entries.map(({ text }) => text).join('\n');
  }
}

class ConsoleList {
  constructor(store) {
    this.name = 'Console';
    this.store = store;
    this.element = make('div', {
      class: 'run-list run-console',
      tabindex: '0',
      role: 'log',
      'aria-live': 'off',
    });
    this.element.setAttribute('aria-label', 'Console');
    this.rows = new Rows(this.element, ({ item: [level, text] }) =>
      make('div', { class: `run-log run-log-${LEVELS.has(level) ? level : 'log'}` }, text),
    );
  }

  entries() {
    return this.store.logs.entries.map((entry) => ({ ...entry, text: entry.item[1] }));
  }

  draw(entries) {
    this.rows.draw(entries);
  }

  copy(entries) {
    return entries.map(({ text }) => text).join('\n');
  }
}

const LEVELS = new Set(['log', 'info', 'warn', 'error', 'debug']);
const COLUMNS = 12;

class ReportTable {
  constructor(store) {
    this.name = 'Table';
    this.store = store;
    this.headings = make('tr');
    this.body = make('tbody');
    this.columns = [];
    this.rows = new Rows(this.body, (entry) => this.row(entry));
    const caption = make('caption', { class: 'run-unseen' }, 'Reports that are flat objects');
    const table = make('table', {}, caption);
    table.append(make('thead', {}, this.headings), this.body);
    this.element = make('div', { class: 'run-list run-table', tabindex: '0', role: 'region' }, table);
    this.element.setAttribute('aria-label', 'Table of reports');
  }

  entries() {
    return this.store.reports.entries
      .filter(({ item }) => !isLeaf(item) && isFlat(item) && item[2].length && !isProgress(item))
      .map((entry) => ({ ...entry, text: (entry.text ??= textOf(entry.item)) }));
  }

  draw(entries) {
    const keys = new Set(entries.flatMap(({ item }) => item[2].map(([key]) => key)));
    const columns = [...keys].slice(0, COLUMNS);
    if (columns.join('\n') !== this.columns.join('\n')) {
      this.columns = columns;
      this.rows.clear();
      this.headings.replaceChildren(make('th', { scope: 'col' }, '#'));
      for (const column of columns) this.headings.append(make('th', { scope: 'col' }, column));
    }
    this.rows.draw(entries);
  }

  row({ index, item }) {
    const row = make('tr', {}, make('th', { scope: 'row', class: 'run-index' }, index));
    for (const [kind, text] of this.cells(item)) row.append(make('td', { class: `run-cell-${kind}` }, text));
    [...this.headings.children].forEach((heading, at) => (heading.className ||= row.children[at].className));
    return row;
  }

  cells(item) {
    const fields = new Map(item[2]);
    return this.columns.map((column) => {
      const field = fields.get(column);
      return field ? [field[0], field[0] === 'string' ? field[1] : leafText(field)] : ['none', ''];
    });
  }

  copy(entries) {
    const lines = entries.map(({ item }) => this.cells(item).map(([, text]) => text));
    return [this.columns, ...lines].map((cells) => cells.map(oneLine).join('\t')).join('\n');
  }
}

const isProgress = ([, , entries]) =>
  entries.some(([key]) => key === 'progress') &&
  entries.every(([key]) => ['progress', 'total', 'label'].includes(key));

/** Arrow keys as in every tree: up and down move, right opens, left closes or goes to the parent. */
function treeKey(tree, event) {
  const shown = [...tree.querySelectorAll('[role=treeitem]')].filter((item) => item.offsetParent);
  const item = event.target.closest('[role=treeitem]');
  const open = item?.getAttribute('aria-expanded');
  const at = shown.indexOf(item);
  const parent = item?.parentElement.closest('[role=treeitem]');
  const moves = {
    ArrowDown: () => focusItem(tree, shown[at + 1]),
    ArrowUp: () => focusItem(tree, shown[at - 1]),
    Home: () => focusItem(tree, shown[0]),
    End: () => focusItem(tree, shown.at(-1)),
    ArrowRight: () => (open === 'false' ? item.toggle(true) : open && focusItem(tree, shown[at + 1])),
    ArrowLeft: () => (open === 'true' ? item.toggle(false) : focusItem(tree, parent)),
    Enter: () => item?.toggle?.(open !== 'true'),
    ' ': () => item?.toggle?.(open !== 'true'),
  };
  if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  moves[event.key]();
}

function focusItem(tree, item) {
  if (!item) return;
  for (const former of tree.querySelectorAll("[tabindex='0']")) former.setAttribute('tabindex', '-1');
  item.setAttribute('tabindex', '0');
  item.focus();
}
