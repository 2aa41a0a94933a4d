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
  const text = plainJSON(value);
  return text === undefined ? 'T' + encodeTable(value, path, lenient) : 'P' + text;
}

// JSON of a value that JSON says in full, or undefined.
function plainJSON(value) {
  const encoding = ++encodings;
  root = value;
  seen = undefined;
  if (
    !isPlain(value, 0)
    || encoding !== encodings
    || !arraysAreClean()
    || getOwnPropertyDescriptor(ObjectPrototype, 'toJSON') !== undefined
    || getOwnPropertyDescriptor(ArrayPrototype, 'toJSON') !== undefined
  ) return undefined;
  const text = stringify(value);
  attachments = undefined;
  return typeof text === 'string' ? text : undefined;
}

let root; // of the value being looked at
let seen; // containers met below it; most values have none

function isPlain(value, depth) {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return isPlainNumber(value);
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth !== 0) {
    if (depth === 100 || value === root) return false;
    if (seen === undefined) seen = newSet();
    else if (seen.has(value)) return false;
    seen.add(value);
  }
  const prototype = getPrototypeOf(value);
  if (prototype === ObjectPrototype || prototype === null) {
    if (isArray(value)) return false;
    const names = enumerableKeys(value);
    for (let i = 0; i < names.length; i++) {
      if (!isPlain(value[names[i]], depth + 1)) return false;
    }
    return true;
  }
  if (prototype !== ArrayPrototype || !isArray(value)) return false;
  const { length } = value;
  if (length > MAX_ITEMS) return false; // what refuses it says why
  for (let i = 0; i < length; i++) {
    if (!isPlain(value[i], depth + 1)) return false;
  }
  return true;
}

// Python would read a large whole number as an int, which stands for a bigint.
function isPlainNumber(value) {
  if (value === (value | 0)) return value !== 0 || 1 / value > 0;
  if (value - value !== 0) return false;
  return (value <= LARGEST && value >= -LARGEST) || value >= 1e21 || value <= -1e21;
}

function encodeTable(root, path, lenient) {
  const state = {
    __proto__: null, path, lenient, numbers: newMap(), queue: newList(), parents: newList(), steps: newList(), items: 0,
    attachments: undefined,
  };
  const table = newList();
  table[0] = encodeItem(state, root, -1, undefined);
  for (let i = 0; i < state.queue.length; i++) table[i + 1] = encodeNode(state, state.queue[i], i);
  attachments = state.attachments;
  return arraysAreClean() ? stringify(table) : spell(table);
}

// JSON.stringify looks for toJSON, and keeps the containers it is in on an array, by plain
// assignment: setters for indices on a prototype of arrays would be handed our tables, which are no
// deeper than this.
const probe = [];
function arraysAreClean() {
  return getPrototypeOf(ArrayPrototype) === ObjectPrototype && getPrototypeOf(ObjectPrototype) === null
    && !('toJSON' in probe || 0 in probe || 1 in probe || 2 in probe || 3 in probe || 4 in probe);
}

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
      return ['n', value === 0 ? '-0' : StringFunction(value)];
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
    if (state.attachments === undefined) state.attachments = newList();
    const index = state.attachments.length;
    if (index === MAX_ATTACHMENTS) refuse(state, 'too much binary data in pieces cannot cross', me, undefined);
    state.attachments[index] = value;
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
      native.expect();
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
