// Encodes values for the host, in the forms that wire/values.py describes: JSON where it suffices,
// else columns (columns.js), else a table (table.js).
// Reading a value may run guest code (getters, proxies), which may change the value meanwhile. It
// reaches nothing of ours, because the encoders keep everything in lists without a prototype.
const LARGEST = 2 ** 53 - 1;
const MAX_ITEMS = 2 ** 26;
const MAX_ATTACHMENTS = 2 ** 17 - 1; // in one message; wire/frame.py has the same limit
let attachments; // of the value encoded last, or undefined

// Counts encodings. Guest code that runs while a value is read may itself report or call a bridge. That
// inner encoding ends before the outer one goes on; the outer one sees from this number that `root` and
// `seen` are no longer its own. The outer one sets `attachments` last.
let encodings = 0;

function encode(value, path, lenient) {
  const plain = plainJSON(value, true);
  return plain === undefined ? encodeOdd(value, path, lenient) : 'P' + plain;
}

// Encodes a value that JSON cannot express, or not as fast.
function encodeOdd(value, path, lenient) {
  const columns = encodeColumns(value, lenient);
  return columns === undefined ? 'T' + encodeTable(value, path, lenient) : 'C' + columns;
}

// The JSON of arguments that are few and all scalars, as most are; undefined for any others. Runs no
// guest code.
function scalarsJSON(args) {
  if (args.length >= MANY) return undefined;
  let text = '[';
  for (let i = 0; i < args.length; i++) {
    const item = args[i];
    if (!isScalar(item)) return undefined;
    if (i !== 0) text += ',';
    text += typeof item === 'string' ? stringify(item) : item;
  }
  attachments = undefined;
  return text + ']';
}

// The JSON of a value that JSON expresses in full; undefined for any other. With `butRows` it is also
// undefined for long arrays that are faster as columns.
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

let root; // the value being examined
let seen; // the containers found inside it; most values have none
let deepest; // the depth of the deepest of them
let leaveRows; // whether long arrays of similar objects are left to columns.js

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
      if (type === 'number' ? !isPlainNumber(item) : type !== 'string' && !isPlain(item, depth + 1))
        return false;
    }
    return !('toJSON' in value);
  }
  if (prototype !== ArrayPrototype || !isArray(value)) return false;
  const { length } = value;
  if (length > MAX_ITEMS) return false; // the table encoder refuses it with a message
  if (length >= MANY && leaveRows && (areRows(value[0], value[1]) || seemFractions(value, length)))
    return false;
  for (let i = 0; i < length; i++) {
    const item = value[i];
    const type = typeof item;
    if (type === 'number' ? !isPlainNumber(item) : type !== 'string' && !isPlain(item, depth + 1))
      return false;
  }
  return !('toJSON' in value);
}
const MANY = 32;

function areRows(one, other) {
  return (
    kindOfItem(one) === OBJECT &&
    kindOfItem(other) === OBJECT &&
    enumerableKeys(one).length === enumerableKeys(other).length
  );
}

function seemFractions(values, length) {
  return (
    length >= WORTH_ATTACHING &&
    (isFraction(values[0]) || isFraction(values[length >> 1]) || isFraction(values[length - 1]))
  );
}
const WORTH_ATTACHING = 1024;

function isFraction(value) {
  return typeof value === 'number' && value % 1 !== 0;
}

function isScalar(value) {
  const type = typeof value;
  return (
    type === 'string' || (type === 'number' ? isPlainNumber(value) : type === 'boolean' || value === null)
  );
}

// Whether JSON expresses a number. Python reads a large whole number as an int, which is a bigint here.
function isPlainNumber(value) {
  if (value === (value | 0)) return value !== 0 || 1 / value > 0;
  if (value - value !== 0) return false;
  return (value <= LARGEST && value >= -LARGEST) || value >= 1e21 || value <= -1e21;
}
