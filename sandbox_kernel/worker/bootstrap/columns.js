// Encodes trees of data, many values at a time. A list of values becomes one column of the message,
// and what they contain becomes further lists, which are encoded later. So the loops are short, and
// JSON's native code does the rest. Cycles, functions, class instances and the like have no column:
// then the answer is `undefined`, and table.js encodes the value instead, or refuses it.

// The kinds of values.
const SCALAR = 0;
const MISSING = 1;
const NUMBER = 2;
const BIGINT = 3;
const DATE = 4;
const OBJECT = 5;
const ARRAY = 6;
const SET = 7;
const MAP = 8;
const OTHER = 9;
// What one value of each kind costs on the host, in the units of wire/columns.py, which has the same table.
const COSTS = {
  __proto__: null,
  [MISSING]: 1,
  [BIGINT]: 6,
  [DATE]: 8,
  [OBJECT]: 8,
  [ARRAY]: 8,
  [SET]: 15,
  [MAP]: 16,
};
const FLOAT_COST = 1;
const MEMBER_COST = 5;
const ENTRY_COST = 14;
const DISTINCT = 16; // added to a kind whose list is known to have no repetitions
const FEW = 256; // a message with more lists than this must have several values in each

function encodeColumns(root, lenient) {
  const state = {
    __proto__: null,
    lenient,
    lists: newList(),
    kinds: newList(),
    seen: newList(),
    met: newList(),
    made: 0,
    items: 0,
    attachments: undefined,
  };
  for (let kind = 0; kind < OTHER; kind++) {
    state.seen[kind] = newSet();
    state.met[kind] = 0;
  }
  const table = newList();
  addList(state, undefined)[0] = root;
  try {
    for (let i = 0; i < state.lists.length; i++) {
      const column = encodeColumn(state, state.lists[i], state.kinds[i]);
      if (column === undefined || (i > FEW && state.items < 4 * i)) return undefined;
      table[i] = column;
      state.lists[i] = undefined;
    }
  } catch {
    return undefined;
  }
  attachments = state.attachments;
  return state.made + (arraysAreClean(TABLE_DEPTH) ? stringify(table) : spell(table));
}

// Adds a list to be encoded later; `kind` is the kind of its values if that is known already.
function addList(state, kind) {
  const list = newList();
  state.kinds[state.lists.length] = kind;
  state.lists[state.lists.length] = list;
  return list;
}

function encodeColumn(state, values, known) {
  const { length } = values;
  if ((state.items += length) > MAX_ITEMS) return undefined;
  if (known !== undefined) return encodeAlike(state, known, values, length);
  if (length === 0) return ['v', values];
  if (seemFractions(values, length) && areNumbers(values, length)) return encodeFloats(state, values, length);
  const kind = kindOfItem(values[0]);
  const alike = countAlike(values, kind, length);
  return alike === length
    ? encodeAlike(state, kind, values, length)
    : encodeMixture(state, values, kind, alike, length);
}

// How many values, from the first on, are of a kind. Short loops, each with the cheapest sufficient test.
function countAlike(values, kind, length) {
  let i = 1;
  if (kind === SCALAR) {
    const type = typeof values[0];
    if (type === 'string') while (i < length && typeof values[i] === 'string') i++;
    else if (type === 'boolean') while (i < length && typeof values[i] === 'boolean') i++;
    else
      for (
        let value;
        i < length && typeof (value = values[i]) === 'number' && value === (value | 0) && value !== 0;
        i++
      );
    while (i < length && isScalar(values[i])) i++;
  } else if (kind === MISSING) {
    while (i < length && values[i] === undefined) i++;
  } else if (kind === OBJECT) {
    for (; i < length; i++) {
      const value = values[i];
      if (typeof value !== 'object' || value === null || isArray(value)) break;
      const prototype = getPrototypeOf(value);
      if (prototype !== ObjectPrototype && prototype !== null) break;
    }
  } else if (kind === DATE || kind === SET || kind === MAP) {
    const prototype = kind === DATE ? DatePrototype : kind === SET ? SetPrototype : MapPrototype;
    for (; i < length; i++) {
      const value = values[i];
      if (typeof value !== 'object' || value === null || getPrototypeOf(value) !== prototype) break;
    }
  } else {
    while (i < length && kindOfItem(values[i]) === kind) i++;
  }
  return i;
}

function kindOfItem(value) {
  const type = typeof value;
  if (type === 'object') {
    if (value === null) return SCALAR;
    if (isArray(value)) return ARRAY;
    const prototype = getPrototypeOf(value);
    if (prototype === ObjectPrototype || prototype === null) return OBJECT;
    if (prototype === DatePrototype) return DATE; // if it only looks like one, its method throws later
    if (prototype === SetPrototype) return SET;
    return prototype === MapPrototype ? MAP : OTHER;
  }
  if (isScalar(value)) return SCALAR;
  if (type === 'undefined') return MISSING;
  if (type === 'number') return NUMBER;
  return type === 'bigint' ? BIGINT : OTHER;
}

// Encodes values of several kinds; the first `alike` of them are known to be of one kind.
function encodeMixture(state, values, kind, alike, length) {
  const first = state.lists.length;
  const numbers = { __proto__: null }; // kind -> number of its list
  const lists = newList();
  const choices = newList();
  for (let i = 0; i < length; i++) {
    if (i >= alike) kind = kindOfItem(values[i]);
    let number = numbers[kind];
    if (number === undefined) {
      number = numbers[kind] = lists.length;
      lists[number] = addList(state, kind);
    }
    choices[i] = number;
    const list = lists[number];
    list[list.length] = values[i];
  }
  return ['+', choices, first, lists.length];
}

function encodeAlike(state, kind, values, length) {
  switch (kind) {
    case SCALAR:
      return ['v', values];
    case MISSING:
      state.made += length * COSTS[MISSING];
      return ['u', length];
    case NUMBER:
      for (let i = 0; i < length; i++) values[i] = oddNumber(values[i]);
      return ['n', values];
    case BIGINT:
      state.made += length * COSTS[BIGINT];
      for (let i = 0; i < length; i++) values[i] = apply(bigintToString, values[i], [16]);
      return ['b', values];
    case OTHER:
      return undefined;
  }
  if (kind < DISTINCT && !areNew(state, kind, values, length))
    return encodeShared(state, kind, values, length);
  state.made += length * COSTS[kind % DISTINCT];
  switch (kind % DISTINCT) {
    case DATE:
      return encodeDates(values, length);
    case OBJECT: {
      const names = enumerableKeys(values[0]);
      return haveNames(values, names, length)
        ? encodeRows(state, values, names, length)
        : encodeObjects(state, values, length);
    }
    case ARRAY:
      return encodeArrays(state, values, length);
    case SET:
      return encodeSets(state, values, length);
    default:
      return encodeMaps(state, values, length);
  }
}

function areNumbers(values, length) {
  for (let i = 0; i < length; i++) if (typeof values[i] !== 'number') return false;
  return true;
}

// Fractions go as binary data: writing and reading them as text is slow on both sides.
function encodeFloats(state, values, length) {
  const index = attach(state, new BinaryConstructors.Float64Array(values));
  if (index === undefined) return undefined;
  state.made += length * FLOAT_COST;
  return ['f', index];
}

function attach(state, value) {
  if (state.attachments === undefined) state.attachments = newList();
  const index = state.attachments.length;
  if (index === MAX_ATTACHMENTS) return undefined;
  state.attachments[index] = value;
  return index;
}

// Whether none of the values was met before. Each kind has its own set, because small sets are faster.
function areNew(state, kind, values, length) {
  const seen = state.seen[kind];
  for (let i = 0; i < length; i++) seen.add(values[i]);
  return apply(setSize, seen, NOTHING) === (state.met[kind] += length);
}
const NOTHING = [];

// Encodes values that repeat: for each its number in a list without repetitions.
function encodeShared(state, kind, values, length) {
  const first = state.lists.length;
  const list = addList(state, kind + DISTINCT);
  const numbers = newMap();
  for (let i = 0; i < length; i++) {
    let number = numbers.get(values[i]);
    if (number === undefined) {
      numbers.set(values[i], (number = list.length));
      list[number] = values[i];
    }
    values[i] = number;
  }
  const before = state.met[kind] - length;
  state.met[kind] = before + list.length;
  return apply(setSize, state.seen[kind], NOTHING) === state.met[kind] ? ['r', values, first] : undefined;
}

function encodeDates(values, length) {
  for (let i = 0; i < length; i++) {
    const time = timeOf(values[i]);
    values[i] = time === time ? time : null;
  }
  return ['d', values];
}
const timeOf = Function.prototype.call.bind(dateGetTime);

function haveNames(values, names, length) {
  const width = names.length;
  if (length < width) return false; // it would take more lists than there are objects
  for (let i = 1; i < length; i++) {
    const own = enumerableKeys(values[i]);
    if (own.length !== width) return false;
    for (let j = 0; j < width; j++) if (own[j] !== names[j]) return false;
  }
  return true;
}

// Encodes objects with the same property names: a list of values for each name.
function encodeRows(state, values, names, length) {
  const first = state.lists.length;
  const columns = newList();
  for (let j = 0; j < names.length; j++) {
    const name = (columns[j] = names[j]);
    const list = addList(state, undefined);
    if (state.lenient) for (let i = 0; i < length; i++) list[i] = readValue(values[i], name);
    else for (let i = 0; i < length; i++) list[i] = values[i][name];
  }
  return ['o', columns, length, first];
}

// Encodes objects whose property names differ: one list of all names, one of all values.
function encodeObjects(state, values, length) {
  const first = state.lists.length;
  const items = addList(state, undefined);
  const names = newList();
  let end = 0;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    const own = enumerableKeys(value);
    for (let j = 0; j < own.length; j++) {
      const name = (names[end] = own[j]);
      items[end++] = state.lenient ? readValue(value, name) : value[name];
    }
    values[i] = own.length;
  }
  return ['k', values, names, first];
}

// Values that are only displayed must not run getters; table.js describes those.
function readValue(value, name) {
  const descriptor = getOwnPropertyDescriptor(value, name);
  if (descriptor === undefined || apply(hasOwn, descriptor, ['get'])) throw 'an accessor';
  return descriptor.value;
}

function encodeArrays(state, values, length) {
  const first = state.lists.length;
  const items = addList(state, undefined);
  let end = 0;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    const size = value.length; // a proxy may claim any length
    if (size > MAX_ITEMS) return undefined;
    const before = end;
    for (let j = 0; j < size; j++) items[end++] = value[j];
    values[i] = end - before;
  }
  return ['a', values, first];
}

function encodeSets(state, values, length) {
  const first = state.lists.length;
  gathered = addList(state, undefined);
  gatherFrom(values, length, setForEach, GATHER_MEMBER);
  state.made += gathered.length * MEMBER_COST;
  return ['s', values, first];
}

function encodeMaps(state, values, length) {
  const first = state.lists.length;
  gatheredKeys = addList(state, undefined);
  gathered = addList(state, undefined);
  gatherFrom(values, length, mapForEach, GATHER_ENTRY);
  state.made += gathered.length * ENTRY_COST;
  return ['m', values, first];
}

// Gathers what all containers hold into one list, and replaces each container by its number of items.
function gatherFrom(values, length, forEach, gather) {
  for (let i = 0; i < length; i++) {
    const before = gathered.length;
    apply(forEach, values[i], gather);
    values[i] = gathered.length - before;
  }
}

// Where the callbacks below gather. No guest code runs between setting these and the end of a forEach.
let gathered, gatheredKeys;
const GATHER_MEMBER = [
  (member) => {
    gathered[gathered.length] = member;
  },
];
const GATHER_ENTRY = [
  (item, key) => {
    gatheredKeys[gathered.length] = key;
    gathered[gathered.length] = item;
  },
];
