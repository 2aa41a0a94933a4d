// Encodes any value at all as a table: a node for each container, numbered, so that cycles and shared
// references survive. wire/table.py describes the form. The only encoder that refuses values.
function encodeTable(root, path, lenient) {
  const state = {
    __proto__: null,
    path,
    lenient,
    numbers: newMap(),
    queue: newList(),
    parents: newList(),
    steps: newList(),
    items: 0,
    attachments: undefined,
  };
  const table = newList();
  table[0] = encodeItem(state, root, -1, undefined);
  for (let i = 0; i < state.queue.length; i++) table[i + 1] = encodeNode(state, state.queue[i], i);
  attachments = state.attachments;
  return arraysAreClean(TABLE_DEPTH) ? stringify(table) : spell(table);
}

// Whether JSON.stringify can be used on our own lists. It looks for toJSON, and it keeps the containers
// that it is in on an array by plain assignment: setters for indices on a prototype of arrays would get
// them, our tables included.
const probe = [];
function arraysAreClean(depth) {
  if (
    getPrototypeOf(ArrayPrototype) !== ObjectPrototype ||
    getPrototypeOf(ObjectPrototype) !== null ||
    'toJSON' in probe
  )
    return false;
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

// Encodes one item of a node. Nodes that never grow are array literals, whose elements are defined and
// not assigned; all others are lists.
function encodeItem(state, value, parent, step) {
  if (++state.items > MAX_ITEMS) refuse(state, 'too many values to cross', parent, step);
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

// An object that stands for what has no node of its own: a symbol, an accessor that was not called.
const standIns = newMap();
function standIn(name, text) {
  const made = create(null);
  standIns.set(made, opaque(name, text, null));
  return made;
}

function encodeNode(state, value, me) {
  if (state.lenient && standIns.has(value)) return standIns.get(value);
  if (typeof value === 'function') return encodeFunction(state, value);
  if (isArray(value)) return encodeArray(state, value, me);
  const prototype = getPrototypeOf(value);
  if (prototype === ObjectPrototype || prototype === null) return encodeObject(state, value, me);
  const kind = kindOf(value, prototype);
  const encoder = kindEncoders[kind];
  return encoder === undefined ? encodeInstance(state, value, me, kind) : encoder(state, value, me, kind);
}

// The engine's name for the kind of an object. Asking calls into Python; the usual kinds are tested here.
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

// The text of one step of a path, needed only for a refusal. A string is a property name, a whole number
// an index, a negative number the key (odd) or value (even) of a Map, a number and a half a Set's member.
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
    apply(mapForEach, value, [
      (item, key) => {
        const index = (made.length - 1) / 2;
        made[made.length] = encodeItem(state, key, me, -1 - 2 * index);
        made[made.length] = encodeItem(state, item, me, -2 - 2 * index);
      },
    ]);
    return made;
  },
  Set(state, value, me) {
    const made = node('s');
    apply(setForEach, value, [
      (item) => {
        made[made.length] = encodeItem(state, item, me, made.length - 0.5);
      },
    ]);
    return made;
  },
  Date(_state, value) {
    const time = apply(dateGetTime, value, []);
    return ['d', time === time ? time : null];
  },
  Error(_state, value) {
    const made = node('e');
    const described = describeError(value);
    made[1] = described.name;
    made[2] = described.message;
    made[3] = placedStack(described);
    return made;
  },
  Promise(state, value, me) {
    if (state.lenient) return opaque('Promise', native.promise(value), null);
    if (!lendPromises) refuse(state, 'a promise cannot cross', me, undefined, '; await it first');
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

function encodeFunction(state, value) {
  const name = functionName(value);
  if (state.lenient) {
    const kind = native.kind(value);
    const label = stringStartsWithClass(value)
      ? 'class'
      : kind === 'Function' || kind === 'Object'
        ? 'Function'
        : kind;
    return opaque(
      'Function',
      label === 'class'
        ? '[class ' + (name || '(anonymous)') + ']'
        : '[' + label + (name ? ': ' + name : ' (anonymous)') + ']',
      null,
    );
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
  if (kind === 'RegExp')
    return opaque('RegExp', '/' + apply(regExpSource, value, []) + '/' + apply(regExpFlags, value, []), null);
  if (kind !== undefined && kind !== 'Object') return opaque(name, '[' + name + ']', null);
  const fields = create(null);
  const names = enumerableKeys(value);
  for (let i = 0; i < names.length; i++) fields[names[i]] = readField(state, value, names[i]);
  return opaque(name, '[' + name + ']', encodeReference(state, fields, me, undefined));
}

function opaque(name, text, fields) {
  return ['q', name, text, fields];
}

function refuse(state, message, parent, step, advice = '') {
  let path = stepText(step);
  for (let at = parent; at >= 0; at = state.parents[at]) path = stepText(state.steps[at]) + path;
  throw namedError('SerializationError', state.path + path + ': ' + message + ' out of the sandbox' + advice);
}
