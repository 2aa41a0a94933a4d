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
