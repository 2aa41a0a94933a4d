// Values on their way to the host; the forms are described in wire/values.py.
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
  return plain === undefined ? encodeOdd(value, path, lenient) : 'P' + plain;
}

// A value that JSON does not say, or not as well.
function encodeOdd(value, path, lenient) {
  const columns = encodeColumns(value, lenient);
  return columns === undefined ? 'T' + encodeTable(value, path, lenient) : 'C' + columns;
}

// JSON of arguments that are not many and all scalars, as most are, or undefined. Nothing of the guest's runs.
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
