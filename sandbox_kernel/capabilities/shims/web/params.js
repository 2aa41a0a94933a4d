// URLSearchParams: a list of pairs, and the URL that it belongs to, if any.
const LINK = Symbol();
const isEncodedInForms = (code) => !test(/[A-Za-z0-9*\-._ ]/, fromCharCode(code)) || code > 0x7e;

function encodeForm(value) {
  const encoded = percentEncode(value, isEncodedInForms);
  let spelled = '';
  for (let i = 0; i < encoded.length; i++) spelled += encoded[i] === ' ' ? '+' : encoded[i];
  return spelled;
}

function decodeForm(value) {
  let spaced = '';
  for (let i = 0; i < value.length; i++) spaced += value[i] === '+' ? ' ' : value[i];
  return utf8Decode(percentDecode(spaced), 0);
}

function parseForm(value) {
  const pairs = newList();
  const parts = split(value, '&');
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === '') continue;
    const equals = indexOfText(parts[i], '=');
    const name = equals < 0 ? parts[i] : sliceText(parts[i], 0, equals);
    const given = equals < 0 ? '' : sliceText(parts[i], equals + 1);
    pairs[pairs.length] = [decodeForm(name), decodeForm(given)];
  }
  return pairs;
}

function pairsOf(init) {
  if (init === undefined || init === null) return newList();
  if (typeof init !== 'object' && typeof init !== 'function') {
    const value = text(init);
    return parseForm(value[0] === '?' ? sliceText(value, 1) : value);
  }
  const pairs = newList();
  if (typeof init[iterator] === 'function') {
    for (const pair of init) {
      const [name, value, ...more] = pair;
      if (pair.length < 2 || more.length > 0)
        throw namedError('TypeError', 'each pair must have a name and a value');
      pairs[pairs.length] = [text(name), text(value)];
    }
    return pairs;
  }
  const keys = ownKeys(init);
  for (let i = 0; i < keys.length; i++) {
    if (typeof keys[i] === 'string') pairs[pairs.length] = [text(keys[i]), text(init[keys[i]])];
  }
  return pairs;
}

const IteratorPrototype = getPrototypeOf(getPrototypeOf([][iterator]()));
const pairIterators = create(IteratorPrototype);
function pairIterator(read) {
  const made = create(pairIterators);
  let at = 0;
  hide(made, 'next', () => {
    const value = read(at++);
    return value === undefined ? { value: undefined, done: true } : { value, done: false };
  });
  return made;
}

class URLSearchParams {
  #pairs;
  #changed;

  constructor(init = undefined) {
    this.#pairs = pairsOf(init);
  }
  // A URL's own: `changed` is told the text of the query after every change.
  static [LINK](params, query, changed) {
    params.#pairs = parseForm(query);
    params.#changed = changed;
  }
  get size() {
    return this.#pairs.length;
  }
  append(name, value) {
    this.#pairs[this.#pairs.length] = [text(name), text(value)];
    this.#tell();
  }
  delete(name, value = undefined) {
    const [sought, wanted] = [text(name), value === undefined ? undefined : text(value)];
    this.#keep((pair) => pair[0] !== sought || (wanted !== undefined && pair[1] !== wanted));
    this.#tell();
  }
  get(name) {
    const sought = text(name);
    for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] === sought) return this.#pairs[i][1];
    return null;
  }
  getAll(name) {
    const sought = text(name);
    const found = [];
    for (let i = 0; i < this.#pairs.length; i++) {
      if (this.#pairs[i][0] === sought) put(found, found.length, this.#pairs[i][1]);
    }
    return found;
  }
  has(name, value = undefined) {
    const [sought, wanted] = [text(name), value === undefined ? undefined : text(value)];
    for (let i = 0; i < this.#pairs.length; i++) {
      const [each, given] = this.#pairs[i];
      if (each === sought && (wanted === undefined || given === wanted)) return true;
    }
    return false;
  }
  set(name, value) {
    const [sought, given] = [text(name), text(value)];
    let isThere = false;
    this.#keep((pair) => {
      if (pair[0] !== sought) return true;
      if (isThere) return false;
      isThere = true;
      pair[1] = given;
      return true;
    });
    if (!isThere) this.#pairs[this.#pairs.length] = [sought, given];
    this.#tell();
  }
  sort() {
    const pairs = this.#pairs;
    for (let i = 1; i < pairs.length; i++) {
      const pair = pairs[i];
      let at = i;
      for (; at > 0 && pairs[at - 1][0] > pair[0]; at--) pairs[at] = pairs[at - 1];
      pairs[at] = pair;
    }
    this.#tell();
  }
  forEach(callback, self = undefined) {
    for (let i = 0; i < this.#pairs.length; i++) {
      kit.apply(callback, self, [this.#pairs[i][1], this.#pairs[i][0], this]);
    }
  }
  keys() {
    return pairIterator((at) => this.#pairs[at]?.[0]);
  }
  values() {
    return pairIterator((at) => this.#pairs[at]?.[1]);
  }
  entries() {
    return pairIterator((at) =>
      at < this.#pairs.length ? [this.#pairs[at][0], this.#pairs[at][1]] : undefined,
    );
  }
  [iterator]() {
    return this.entries();
  }
  toString() {
    let spelled = '';
    for (let i = 0; i < this.#pairs.length; i++) {
      spelled += (i === 0 ? '' : '&') + encodeForm(this.#pairs[i][0]) + '=' + encodeForm(this.#pairs[i][1]);
    }
    return spelled;
  }
  #keep(isKept) {
    let kept = 0;
    for (let i = 0; i < this.#pairs.length; i++) {
      if (isKept(this.#pairs[i])) this.#pairs[kept++] = this.#pairs[i];
    }
    this.#pairs.length = kept;
  }
  #tell() {
    this.#changed?.(this.toString());
  }
}
const linkParams = URLSearchParams[LINK];
delete URLSearchParams[LINK];
