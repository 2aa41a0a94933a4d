// Describes what a guest threw as texts. Nothing about the value is trusted: its fields may lie or throw.
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

// Never throws itself, whatever the value does.
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

// Its frames as the host may read them: at the calls that they are in.
function placedStack(described) {
  return described.stack === null ? null : native.atCalls(described.name, described.stack);
}

// An error that leaves the realm is told in texts of bounded length, as in worker/failure.py.
const NAME_AT_MOST = 200;
const TEXT_AT_MOST = 65536;
const NOTE_AT_MOST = 32;

function describeThrown(value) {
  const described = describeError(value);
  const { stack } = described;
  return {
    __proto__: null,
    name: cut(described.name, NAME_AT_MOST),
    message: cut(described.message, TEXT_AT_MOST),
    stack: stack === null ? null : cut(stack, TEXT_AT_MOST),
    engine: described.engine,
  };
}

// Of the guest's own classes that an error is an instance of, whose constructors are its first frames.
function classNames(error) {
  const names = newList();
  for (let each = error; names.length < CLASSES_AT_MOST && isObject(each); each = protoOf(each)) {
    const name = className(each);
    if (name === '' || ErrorConstructors[name] !== undefined) break;
    names[names.length] = cut(name, NAME_AT_MOST);
  }
  return names;
}
const CLASSES_AT_MOST = 8;

function isObject(value) {
  return typeof value === 'object' && value !== null;
}

function cut(text, most) {
  if (text.length <= most) return text;
  let kept = most - NOTE_AT_MOST;
  const last = text[kept - 1];
  if (last >= '\ud800' && last <= '\udbff') kept--; // not in the middle of a character
  return apply(stringSlice, text, [0, kept]) + '… (' + (text.length - kept) + ' more characters)';
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
