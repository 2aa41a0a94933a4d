// Outlines of values (see outline.py) as text and as elements.

const isLeaf = (outline) => outline.length < 4;
const isFlat = ([kind, title, entries, more]) =>
  kind === 'object' && title === '' && more === 0 && entries.every(([, value]) => isLeaf(value));
const isLong = ([kind, text, cut]) =>
  (kind === 'string' || kind === 'error') && (cut > 0 || text.length > 100 || text.includes('\n'));
const opens = (outline) => (isLeaf(outline) ? isLong(outline) : outline[2].length > 0);

const oneLine = (text) => text.replaceAll('\n', '\\n').replaceAll('\t', '\\t');

function leafText([kind, text, cut = 0]) {
  const shown = kind === 'string' ? `'${oneLine(text)}'` : oneLine(text);
  return cut ? `${shown}… ${count(cut, 'more character')}` : shown;
}

/** A whole outline on one line, for filtering and copying. */
function textOf(outline) {
  return [...pieces(outline, Infinity)].map(([, text]) => text).join('');
}

/** The pieces of one line as `[kind, text]`, with at most `room` entries of any structure. */
function* pieces(outline, room) {
  if (isLeaf(outline)) return yield [outline[0], leafText(outline)];
  const [kind, title, entries, more] = outline;
  const [open, close] = kind === 'array' ? ['[', ']'] : ['{', '}'];
  yield ['note', kind === 'object' || title.startsWith('Array(') ? named(title) : `${title} `];
  yield ['mark', open];
  for (const [position, [key, value]] of entries.slice(0, room).entries()) {
    if (position) yield ['mark', ', '];
    const sign = { object: ': ', map: ' => ' }[kind];
    if (sign) {
      yield ['key', key];
      yield ['mark', sign];
    }
    yield* pieces(value, Math.floor(room / 2));
  }
  const left = more + Math.max(0, entries.length - room);
  if (left) yield ['mark', `${entries.length && room ? ', ' : ''}… ${left.toLocaleString('en')} more`];
  yield ['mark', close];
}

const named = (title) => (title && !title.startsWith('Array(') ? `${title} ` : '');

/** One line of coloured pieces, as much of it as fits a wide screen. */
function preview(outline) {
  const line = make('span', { class: 'run-preview' });
  let room = 240;
  for (const [kind, text] of pieces(outline, 8)) {
    if (room <= 0) break;
    line.append(make('span', { class: `run-${kind}` }, text.slice(0, room)));
    room -= text.length;
  }
  if (room < 0) line.append(make('span', { class: 'run-mark' }, '…'));
  return line;
}

/** One item of the tree; what it contains is made when it is first opened. */
function treeItem(store, path, label, outline, level) {
  const line = make('div', { class: 'run-line' });
  const twisty = make('span', { class: 'run-twisty', 'aria-hidden': 'true' });
  line.append(...(level === 1 ? [label, twisty] : [twisty, label]), preview(outline));
  const item = make('div', { role: 'treeitem', tabindex: '-1', 'aria-level': level }, line);
  if (!opens(outline)) return item;
  const toggle = (open) => {
    item.setAttribute('aria-expanded', open);
    open ? store.choices.open.add(path) : store.choices.open.delete(path);
    if (open && !item.lastElementChild.matches('[role=group]'))
      item.append(inside(store, path, outline, level));
  };
  item.toggle = toggle;
  // Pressing gives the item focus, which may move the line by a pixel: then the click hits the item instead.
  item.addEventListener('click', ({ target }) => {
    if (target === item || line.contains(target)) toggle(item.getAttribute('aria-expanded') !== 'true');
  });
  toggle(store.choices.open.has(path));
  return item;
}

function inside(store, path, outline, level) {
  const group = make('div', { role: 'group' });
  if (isLeaf(outline)) {
    const [, text, cut = 0] = outline;
    group.append(make('div', { class: 'run-text' }, text));
    if (cut) group.append(make('div', { class: 'run-rest' }, `… ${count(cut, 'more character')}`));
    return group;
  }
  const [kind, , entries, more] = outline;
  entries.forEach(([key, value], position) => {
    const label = make('span', { class: 'run-key' }, kind === 'map' ? `${key} => ` : `${key}: `);
    group.append(treeItem(store, `${path}.${position}`, label, value, level + 1));
  });
  if (more) group.append(make('div', { class: 'run-rest' }, `… ${more.toLocaleString('en')} more`));
  return group;
}
