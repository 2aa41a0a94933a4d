// Values to and from the wire; the form is described in wire/values.py.
// Reading a value may run guest code (getters, proxies): it may change the value under our hands,
// but it reaches nothing of ours, because tables are built from lists without a prototype.
const LARGEST = 2 ** 53 - 1;
const MAX_ITEMS = 2 ** 26;
const MAX_ATTACHMENTS = 2 ** 17 - 1; // of one message; wire/frame.py has the same
let attachments; // of the value encoded last, or undefined

// Guest code that runs while a value is read may itself report or call. The inner encoding is done
// before the outer one goes on, which then cannot trust `root` and `seen`, and sets `attachments` last.
let encodings = 0;

function encode(value, path, lenient) {
  const plain = plainJSON(value, true);
  if (plain !== undefined) return 'P' + plain;
  const columns = encodeColumns(value, lenient);
  return columns === undefined ? 'T' + encodeTable(value, path, lenient) : 'C' + columns;
}

// JSON of a value that JSON says in full, or undefined; `butRows` is for those who have columns.
function plainJSON(value, butRows) {
  const encoding = ++encodings;
  root = value;
  seen = undefined;
  deepest = 0;
  leaveRows = butRows;
  if (!isPlain(value, 0) || encoding !== encodings || !arraysAreClean(deepest)) return undefined;
  const text = stringify(value);
  attachments = undefined;
  return typeof text === 'string' ? text : undefined;
}

let root; // of the value being looked at
let seen; // containers met below it; most values have none
let deepest; // how deep they are
let leaveRows; // many objects alike are faster as columns

function isPlain(value, depth) {
  if (typeof value !== 'object' || value === null) return isScalar(value);
  if (depth !== 0) {
    if (depth === 100 || value === root) return false;
    if (seen === undefined) seen = newSet();
    else if (seen.has(value)) return false;
    seen.add(value);
    if (depth > deepest) deepest = depth;
  }
  const prototype = getPrototypeOf(value);
  if (prototype === ObjectPrototype || prototype === null) {
    if (isArray(value)) return false;
    const names = enumerableKeys(value);
    for (let i = 0; i < names.length; i++) {
      const item = value[names[i]];
      const type = typeof item;
      if (type === 'number' ? !isPlainNumber(item) : type !== 'string' && !isPlain(item, depth + 1)) return false;
    }
    return !('toJSON' in value);
  }
  if (prototype !== ArrayPrototype || !isArray(value)) return false;
  const { length } = value;
  if (length > MAX_ITEMS) return false; // what refuses it says why
  if (length >= MANY && leaveRows && (areRows(value[0], value[1]) || seemFractions(value, length))) return false;
  for (let i = 0; i < length; i++) {
    const item = value[i];
    const type = typeof item;
    if (type === 'number' ? !isPlainNumber(item) : type !== 'string' && !isPlain(item, depth + 1)) return false;
  }
  return !('toJSON' in value);
}
const MANY = 32;

function areRows(one, other) {
  return kindOfItem(one) === OBJECT && kindOfItem(other) === OBJECT
    && enumerableKeys(one).length === enumerableKeys(other).length;
}

function seemFractions(values, length) {
  return length >= WORTH_ATTACHING
    && (isFraction(values[0]) || isFraction(values[length >> 1]) || isFraction(values[length - 1]));
}
const WORTH_ATTACHING = 1024;

function isFraction(value) {
  return typeof value === 'number' && value % 1 !== 0;
}

function isScalar(value) {
  const type = typeof value;
  return type === 'string' || (type === 'number' ? isPlainNumber(value) : type === 'boolean' || value === null);
}

// Python would read a large whole number as an int, which stands for a bigint.
function isPlainNumber(value) {
  if (value === (value | 0)) return value !== 0 || 1 / value > 0;
  if (value - value !== 0) return false;
  return (value <= LARGEST && value >= -LARGEST) || value >= 1e21 || value <= -1e21;
}

// ------------------------------------------------------------------------------ columns

// Trees of data, many values at a time: a list of values becomes one column of the message, and what
// they hold becomes further lists, whose turn comes later; so the loops are short, and JSON's native
// code does the rest. Cycles, functions, instances and the like have no column: then `undefined` is
// the answer, and the table that is made instead says it, or says why not.
const SCALAR = 0, MISSING = 1, NUMBER = 2, BIGINT = 3, DATE = 4, OBJECT = 5, ARRAY = 6, SET = 7, MAP = 8, OTHER = 9;
// What one of each takes on the host, in units of wire/columns.py, which has the same.
const COSTS = { __proto__: null, [MISSING]: 1, [DATE]: 2, [OBJECT]: 8, [ARRAY]: 3, [SET]: 8, [MAP]: 8 };
const FLOAT_COST = 1, MEMBER_COST = 3, ENTRY_COST = 4;
const DISTINCT = 16; // added to a kind: and each of them is there once
const FEW = 256; // lists, from which on they must be worth their while

function encodeColumns(root, lenient) {
  const state = { __proto__: null, lenient, lists: newList(), kinds: newList(), seen: newList(), met: newList(), made: 0, items: 0,
    attachments: undefined };
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

// A list whose turn will come; `kind` is what its values are, if that is known already.
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
  let i = 1;
  if (kind === SCALAR) while (i < length && isScalar(values[i])) i++;
  else while (i < length && kindOfItem(values[i]) === kind) i++;
  return i === length ? encodeAlike(state, kind, values, length) : encodeMixture(state, values, kind, i, length);
}

function kindOfItem(value) {
  const type = typeof value;
  if (type === 'object') {
    if (value === null) return SCALAR;
    if (isArray(value)) return ARRAY;
    const prototype = getPrototypeOf(value);
    if (prototype === ObjectPrototype || prototype === null) return OBJECT;
    if (prototype === DatePrototype) return DATE; // or it pretends to be: then its method throws
    if (prototype === SetPrototype) return SET;
    return prototype === MapPrototype ? MAP : OTHER;
  }
  if (isScalar(value)) return SCALAR;
  if (type === 'undefined') return MISSING;
  if (type === 'number') return NUMBER;
  return type === 'bigint' ? BIGINT : OTHER;
}

// The first `alike` values are known to be of one kind.
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
      for (let i = 0; i < length; i++) values[i] = apply(bigintToString, values[i], [16]);
      return ['b', values];
    case OTHER:
      return undefined;
  }
  if (kind < DISTINCT && !areNew(state, kind, values, length)) return encodeShared(state, kind, values, length);
  state.made += length * COSTS[kind % DISTINCT];
  switch (kind % DISTINCT) {
    case DATE:
      return encodeDates(values, length);
    case OBJECT: {
      const names = enumerableKeys(values[0]);
      return haveNames(values, names, length) ? encodeRows(state, values, names, length) : encodeObjects(state, values, length);
    }
    case ARRAY:
      return encodeArrays(state, values, length);
    case SET:
      return encodeSets(state, values, length);
    case MAP:
      return encodeMaps(state, values, length);
  }
}

function areNumbers(values, length) {
  for (let i = 0; i < length; i++) if (typeof values[i] !== 'number') return false;
  return true;
}

// Spelling out fractions and reading them again is slow on both sides.
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

// Whether none of them was met before. A set for each kind, because they are faster small.
function areNew(state, kind, values, length) {
  const seen = state.seen[kind];
  for (let i = 0; i < length; i++) seen.add(values[i]);
  return apply(setSize, seen, NOTHING) === (state.met[kind] += length);
}
const NOTHING = [];

// Some are there more than once: which one of a list without repetitions each is.
function encodeShared(state, kind, values, length) {
  const first = state.lists.length;
  const list = addList(state, kind + DISTINCT);
  const numbers = newMap();
  for (let i = 0; i < length; i++) {
    let number = numbers.get(values[i]);
    if (number === undefined) {
      numbers.set(values[i], number = list.length);
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
  if (length < width) return false; // more lists than they are worth
  for (let i = 1; i < length; i++) {
    const own = enumerableKeys(values[i]);
    if (own.length !== width) return false;
    for (let j = 0; j < width; j++) if (own[j] !== names[j]) return false;
  }
  return true;
}

// Objects with the same names: a list of values for each name.
function encodeRows(state, values, names, length) {
  const first = state.lists.length;
  const columns = newList();
  for (let j = 0; j < names.length; j++) {
    const name = columns[j] = names[j];
    const list = addList(state, undefined);
    if (state.lenient) for (let i = 0; i < length; i++) list[i] = readValue(values[i], name);
    else for (let i = 0; i < length; i++) list[i] = values[i][name];
  }
  return ['o', columns, length, first];
}

// Objects with names of their own: all names and all values, one after the other.
function encodeObjects(state, values, length) {
  const first = state.lists.length;
  const items = addList(state, undefined);
  const names = newList();
  let end = 0;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    const own = enumerableKeys(value);
    for (let j = 0; j < own.length; j++) {
      const name = names[end] = own[j];
      items[end++] = state.lenient ? readValue(value, name) : value[name];
    }
    values[i] = own.length;
  }
  return ['k', values, names, first];
}

// What is only shown does not run getters; the table describes them.
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
    const size = value.length; // a proxy may claim any
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
  for (let i = 0; i < length; i++) {
    const before = gathered.length;
    apply(setForEach, values[i], GATHER_MEMBER);
    values[i] = gathered.length - before;
  }
  state.made += gathered.length * MEMBER_COST;
  return ['s', values, first];
}

function encodeMaps(state, values, length) {
  const first = state.lists.length;
  gatheredKeys = addList(state, undefined);
  gathered = addList(state, undefined);
  for (let i = 0; i < length; i++) {
    const before = gathered.length;
    apply(mapForEach, values[i], GATHER_ENTRY);
    values[i] = gathered.length - before;
  }
  state.made += gathered.length * ENTRY_COST;
  return ['m', values, first];
}

// No guest code runs between setting these and the end of the forEach.
let gathered, gatheredKeys;
const GATHER_MEMBER = [(member) => { gathered[gathered.length] = member; }];
const GATHER_ENTRY = [(item, key) => {
  gatheredKeys[gathered.length] = key;
  gathered[gathered.length] = item;
}];

// ------------------------------------------------------------------------------ tables

function encodeTable(root, path, lenient) {
  const state = {
    __proto__: null, path, lenient, numbers: newMap(), queue: newList(), parents: newList(), steps: newList(), items: 0,
    attachments: undefined,
  };
  const table = newList();
  table[0] = encodeItem(state, root, -1, undefined);
  for (let i = 0; i < state.queue.length; i++) table[i + 1] = encodeNode(state, state.queue[i], i);
  attachments = state.attachments;
  return arraysAreClean(TABLE_DEPTH) ? stringify(table) : spell(table);
}

// JSON.stringify looks for toJSON, and keeps the containers it is in on an array, by plain
// assignment: setters for indices on a prototype of arrays would be handed them, our tables too.
const probe = [];
function arraysAreClean(depth) {
  if (getPrototypeOf(ArrayPrototype) !== ObjectPrototype || getPrototypeOf(ObjectPrototype) !== null || 'toJSON' in probe) return false;
  for (let i = 0; i <= depth; i++) if (i in probe) return false;
  return true;
}
const TABLE_DEPTH = 4;

function spell(item) {
  if (typeof item !== 'object' || item === null) return stringify(item);
  let text = '[';
  for (let i = 0; i < item.length; i++) text += (i === 0 ? '' : ',') + spell(item[i]);
  return text + ']';
}

// Array literals for what never grows (they define, whatever the prototype says), lists for the rest.
function encodeItem(state, value, parent, step) {
  if (++state.items > MAX_ITEMS) refuse(state, 'too many values', parent, step);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (isPlainNumber(value)) return value;
      return ['n', oddNumber(value)];
    case 'undefined':
      return UNDEFINED;
    case 'bigint':
      return ['b', apply(bigintToString, value, [16])];
    case 'symbol':
      if (!state.lenient) refuse(state, 'a symbol cannot cross', parent, step);
      return encodeReference(state, standIn('Symbol', apply(symbolToString, value, [])), parent, step);
    default:
      return value === null ? null : encodeReference(state, value, parent, step);
  }
}

function oddNumber(value) {
  return value === 0 ? '-0' : StringFunction(value);
}

function encodeReference(state, value, parent, step) {
  let number = state.numbers.get(value);
  if (number === undefined) {
    number = state.queue.length;
    state.numbers.set(value, number);
    state.queue[number] = value;
    state.parents[number] = parent;
    state.steps[number] = step;
  }
  return [number];
}
const UNDEFINED = ['u'];

// Stands for something that has no node of its own: a symbol, an accessor that was not called.
const standIns = newMap();
function standIn(name, text) {
  const made = create(null);
  standIns.set(made, opaque(name, text, null));
  return made;
}

function encodeNode(state, value, me) {
  if (state.lenient && standIns.has(value)) return standIns.get(value);
  if (typeof value === 'function') return encodeFunction(state, value, me);
  if (isArray(value)) return encodeArray(state, value, me);
  const prototype = getPrototypeOf(value);
  if (prototype === ObjectPrototype || prototype === null) return encodeObject(state, value, me);
  const kind = kindOf(value, prototype);
  const encoder = kindEncoders[kind];
  return encoder === undefined ? encodeInstance(state, value, me, kind) : encoder(state, value, me, kind);
}

// Asking the engine crosses into the worker's own code; the usual kinds are proved without.
function kindOf(value, prototype) {
  try {
    if (prototype === DatePrototype && typeof apply(dateGetTime, value, []) === 'number') return 'Date';
    if (prototype === MapPrototype && typeof apply(mapSize, value, []) === 'number') return 'Map';
    if (prototype === SetPrototype && typeof apply(setSize, value, []) === 'number') return 'Set';
  } catch {}
  return native.kind(value);
}

function node(tag) {
  const made = newList();
  made[0] = tag;
  return made;
}

function encodeArray(state, value, me) {
  const made = node('a');
  const { length } = value;
  if (length > MAX_ITEMS) refuse(state, 'an array too long to cross', me, undefined);
  for (let i = 0; i < length; i++) made[i + 1] = encodeItem(state, value[i], me, i);
  return made;
}

function encodeObject(state, value, me) {
  const made = node('o');
  const names = enumerableKeys(value);
  for (let i = 0; i < names.length; i++) {
    made[2 * i + 1] = names[i];
    made[2 * i + 2] = encodeItem(state, readField(state, value, names[i]), me, names[i]);
  }
  return made;
}

function readField(state, value, name) {
  if (state.lenient) {
    const descriptor = getOwnPropertyDescriptor(value, name);
    if (descriptor !== undefined && apply(hasOwn, descriptor, ['get'])) return standIn('Getter', '[Getter]');
  }
  return value[name];
}
const hasOwn = ObjectPrototype.hasOwnProperty;

// How an item is reached, told only when it is refused: a name is a field, a whole number an index,
// a negative one a Map's key (odd) or value (even), one with a half a member of a Set.
function stepText(step) {
  if (step === undefined) return '';
  if (typeof step === 'string') {
    return isIdentifier(step) ? '.' + step : '[' + stringify(step) + ']';
  }
  if (step < 0) {
    const index = (-step - 1 - ((-step - 1) % 2)) / 2;
    return '<' + (step % 2 === 0 ? 'value ' : 'key ') + index + '>';
  }
  return step % 1 === 0 ? '[' + step + ']' : '<member ' + (step - 0.5) + '>';
}
const isIdentifier = (() => {
  const { exec } = RegExp.prototype;
  const pattern = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
  return (name) => apply(exec, pattern, [name]) !== null;
})();

const kindEncoders = {
  __proto__: null,
  Map(state, value, me) {
    const made = node('m');
    apply(mapForEach, value, [(item, key) => {
      const index = (made.length - 1) / 2;
      made[made.length] = encodeItem(state, key, me, -1 - 2 * index);
      made[made.length] = encodeItem(state, item, me, -2 - 2 * index);
    }]);
    return made;
  },
  Set(state, value, me) {
    const made = node('s');
    apply(setForEach, value, [(item) => {
      made[made.length] = encodeItem(state, item, me, made.length - 0.5);
    }]);
    return made;
  },
  Date(state, value) {
    const time = apply(dateGetTime, value, []);
    return ['d', time === time ? time : null];
  },
  Error(state, value) {
    const made = node('e');
    const described = describeError(value);
    made[1] = described.name;
    made[2] = described.message;
    made[3] = described.stack;
    return made;
  },
  Promise(state, value, me) {
    if (state.lenient) return opaque('Promise', native.promise(value), null);
    if (!lendPromises) refuse(state, 'a promise cannot be part of it; await it first', me, undefined);
    return ['p', lendPromise(value)];
  },
};
for (const type of ownKeys(BinaryConstructors)) {
  if (type === 'DataView') continue;
  kindEncoders[type] = (state, value, me, kind) => {
    const index = attach(state, value);
    if (index === undefined) refuse(state, 'too much binary data in pieces cannot cross', me, undefined);
    return ['x', kind, index];
  };
}

function encodeFunction(state, value, me) {
  const name = functionName(value);
  if (state.lenient) {
    const kind = native.kind(value);
    const label = stringStartsWithClass(value) ? 'class' : kind === 'Function' || kind === 'Object' ? 'Function' : kind;
    return opaque('Function', label === 'class'
      ? '[class ' + (name || '(anonymous)') + ']' : '[' + label + (name ? ': ' + name : ' (anonymous)') + ']', null);
  }
  return ['f', lendFunction(value), name];
}
const functionToString = Function.prototype.toString;
function stringStartsWithClass(value) {
  try {
    return apply(stringStartsWith, apply(functionToString, value, []), ['class']);
  } catch {
    return false;
  }
}

function functionName(value) {
  try {
    const descriptor = getOwnPropertyDescriptor(value, 'name');
    return descriptor !== undefined && typeof descriptor.value === 'string' ? descriptor.value : '';
  } catch {
    return '';
  }
}

function className(value) {
  try {
    const prototype = getPrototypeOf(value);
    const descriptor = prototype && getOwnPropertyDescriptor(prototype, 'constructor');
    return descriptor && typeof descriptor.value === 'function' ? functionName(descriptor.value) : '';
  } catch {
    return '';
  }
}

function encodeInstance(state, value, me, kind) {
  const name = className(value) || kind || 'Object';
  if (!state.lenient) refuse(state, 'an instance of ' + name + ' cannot cross', me, undefined);
  if (kind === 'RegExp') return opaque('RegExp', '/' + apply(regExpSource, value, []) + '/' + apply(regExpFlags, value, []), null);
  if (kind !== undefined && kind !== 'Object') return opaque(name, '[' + name + ']', null);
  const fields = create(null);
  const names = enumerableKeys(value);
  for (let i = 0; i < names.length; i++) fields[names[i]] = readField(state, value, names[i]);
  return opaque(name, '[' + name + ']', encodeReference(state, fields, me, undefined));
}

function opaque(name, text, fields) {
  return ['q', name, text, fields];
}

function refuse(state, message, parent, step) {
  let path = stepText(step);
  for (let at = parent; at >= 0; at = state.parents[at]) path = stepText(state.steps[at]) + path;
  throw namedError('SerializationError', state.path + path + ': ' + message + ' out of the sandbox');
}

// ------------------------------------------------------------------------------ errors

function textOf(value) {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol') return '';
  return StringFunction(value);
}

function read(value, name) {
  try {
    return value[name];
  } catch {
    return undefined;
  }
}

// What was thrown, as text. Never throws itself, whatever the value does.
function describeError(value) {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) {
    const message = typeof value === 'symbol' ? apply(symbolToString, value, []) : StringFunction(value);
    return { __proto__: null, name: 'Error', message, stack: null, engine: false };
  }
  const message = read(value, 'message');
  const stack = read(value, 'stack');
  const isError = native.kind(value) === 'Error';
  return {
    __proto__: null,
    name: textOf(read(value, 'name')) || 'Error',
    message: isError || typeof message === 'string' ? textOf(message) : inspectBriefly(value),
    stack: typeof stack === 'string' ? stack : null,
    engine: isError && protoOf(value) === InternalErrorPrototype && message === 'out of memory',
  };
}

function protoOf(value) {
  try {
    return getPrototypeOf(value);
  } catch {
    return null;
  }
}

function inspectBriefly(value) {
  try {
    const text = stringify(value);
    return typeof text === 'string' ? text : '[' + (className(value) || typeof value) + ']';
  } catch {
    return '[' + (className(value) || 'object') + ']';
  }
}

// ------------------------------------------------------------------------------ decoding

function decode(text, buffers) {
  return decodeFrom(text, 0, buffers);
}

function decodeFrom(text, start, buffers) {
  const body = apply(stringSlice, text, [start + 1]);
  if (text[start] === 'P') return parse(body);
  const table = parse(body);
  const made = newList();
  for (let i = 1; i < table.length; i++) made[i - 1] = decodeNode(table[i], buffers);
  for (let i = 1; i < table.length; i++) fillNode(table[i], made[i - 1], made);
  return decodeItem(table[0], made);
}

function decodeItem(item, made) {
  if (typeof item !== 'object' || item === null) return item;
  const tag = item[0];
  if (tag === 'u') return undefined;
  if (tag === 'n') return NumberFunction(item[1]);
  if (tag === 'b') {
    return item[1][0] === '-' ? -BigIntFunction('0x' + apply(stringSlice, item[1], [1])) : BigIntFunction('0x' + item[1]);
  }
  return made[tag];
}

function decodeNode(item, buffers) {
  switch (item[0]) {
    case 'a': return [];
    case 'o': return {};
    case 'm': return new MapConstructor();
    case 's': return new SetConstructor();
    case 'd': return new DateConstructor(item[1] === null ? NaN : item[1]);
    case 'e': return namedError(item[1], item[2]);
    case 'x': return item[1] === 'ArrayBuffer' ? buffers[item[2]] : new BinaryConstructors[item[1]](buffers[item[2]]);
    case 'f': return bridge(item[1], item[2], item[3]);
    case 'p':
      return pendingPromise(item[1]);
  }
}

function fillNode(item, target, made) {
  switch (item[0]) {
    case 'a':
      for (let i = 1; i < item.length; i++) put(target, i - 1, decodeItem(item[i], made));
      break;
    case 'o':
      for (let i = 1; i < item.length; i += 2) put(target, item[i], decodeItem(item[i + 1], made));
      break;
    case 'm':
      for (let i = 1; i < item.length; i += 2) {
        apply(mapSet, target, [decodeItem(item[i], made), decodeItem(item[i + 1], made)]);
      }
      break;
    case 's':
      for (let i = 1; i < item.length; i++) apply(setAdd, target, [decodeItem(item[i], made)]);
      break;
  }
}
