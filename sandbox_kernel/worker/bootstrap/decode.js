// Decodes values that the host sent. The host is trusted, the guest's prototypes are not: so properties
// are defined, and assigned only where no prototype has them.
function decode(text, buffers) {
  return decodeFrom(text, 0, buffers);
}

function decodeFrom(text, start, buffers) {
  try {
    return decodeForm(text, start, buffers);
  } catch (error) {
    throw noted(error);
  }
}

// What the host threw is a table with one error.
function decodeRejection(text, site) {
  try {
    const node = parse(apply(stringSlice, text, [1]))[1];
    return withCode(lateError(node[1], node[2], site), node[4]);
  } catch (error) {
    throw noted(error);
  }
}

function withCode(error, code) {
  if (typeof code === 'string') put(error, 'code', code);
  return error;
}

// A guest could catch that there is no room for a value, and go on; the worker is told, which ends the run.
function noted(error) {
  if (isExhaustion(error)) native.exhausted();
  return error;
}

// Decoding runs no guest code, so this is the engine's own error, or null if it had no room for one.
function isExhaustion(error) {
  return error === null || protoOf(error) === InternalErrorPrototype;
}

function decodeForm(text, start, buffers) {
  const body = apply(stringSlice, text, [start + 1]);
  if (text[start] === 'P') return parse(body);
  const table = parse(body);
  const made = newList();
  const clean = body.length > SMALL && indicesAreFree();
  for (let i = 1; i < table.length; i++) made[i - 1] = decodeNode(table[i], buffers, clean);
  // Backwards, because rows are made of columns, which come after them.
  for (let i = table.length - 1; i > 0; i--) fillNode(table[i], made[i - 1], made, clean);
  return decodeItem(table[0], made);
}

const SMALL = 1000; // characters; asking about prototypes takes longer than defining a few properties

function decodeItem(item, made) {
  if (typeof item !== 'object' || item === null) return item;
  const tag = item[0];
  if (tag === 'u') return undefined;
  if (tag === 'n') return NumberFunction(item[1]);
  if (tag === 'b') {
    return item[1][0] === '-'
      ? -BigIntFunction('0x' + apply(stringSlice, item[1], [1]))
      : BigIntFunction('0x' + item[1]);
  }
  return made[tag];
}

function decodeNode(item, buffers, clean) {
  switch (item[0]) {
    case 'j':
      return item[1];
    case 'a':
    case 'r':
      return [];
    case 'D':
    case 'N':
      return cells(new BinaryConstructors[item[1]](buffers[item[2]]), clean, item[0] === 'D');
    case 'o':
      return {};
    case 'm':
      return new MapConstructor();
    case 's':
      return new SetConstructor();
    case 'd':
      return new DateConstructor(item[1] === null ? NaN : item[1]);
    case 'e':
      return withCode(namedError(item[1], item[2]), item[4]);
    case 'x':
      return item[1] === 'ArrayBuffer' ? buffers[item[2]] : new BinaryConstructors[item[1]](buffers[item[2]]);
    case 'f':
      return bridge(item[1], item[2], item[3]);
    case 'p':
      return pendingPromise(item[1]);
  }
}

function fillNode(item, target, made, clean) {
  switch (item[0]) {
    case 'a':
      for (let i = 1; i < item.length; i++) putAt(target, i - 1, decodeItem(item[i], made), clean);
      break;
    case 'r':
      fillRows(item, target, made, clean);
      break;
    case 'o':
      for (let i = 1; i < item.length; i += 2) putField(target, item[i], decodeItem(item[i + 1], made));
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

// A column at a time, with loops of their own where assigning will do: there may be very many cells.
function fillRows(item, rows, made, clean) {
  const count = item[1];
  for (let i = 0; i < count; i++) putAt(rows, i, {}, clean);
  for (let at = 2; at < item.length; at += 2) {
    const name = item[at];
    const column = decodeItem(item[at + 1], made);
    if (name in ObjectPrototype) for (let i = 0; i < count; i++) put(rows[i], name, column[i]);
    else for (let i = 0; i < count; i++) rows[i][name] = column[i];
  }
}

// An array of what is in a typed array, with null for NaN.
function cells(typed, clean, areMoments) {
  const made = [];
  const length = apply(viewLength, typed, []);
  for (let i = 0; i < length; i++) {
    const number = typed[i];
    const cell = number !== number ? null : areMoments ? new DateConstructor(number) : number;
    if (clean) made[i] = cell;
    else put(made, i, cell);
  }
  return made;
}

// Assigning is several times faster than defining, and the same where no prototype has that property.
function putAt(array, index, value, clean) {
  if (clean) array[index] = value;
  else put(array, index, value);
}

function putField(object, name, value) {
  if (name in ObjectPrototype) put(object, name, value);
  else object[name] = value;
}

// Whether no prototype of arrays has a property for an index, which a guest may have put there. Such keys
// come first.
function indicesAreFree() {
  return (
    getPrototypeOf(ArrayPrototype) === ObjectPrototype &&
    getPrototypeOf(ObjectPrototype) === null &&
    !isIndex(ownKeys(ArrayPrototype)[0]) &&
    !isIndex(ownKeys(ObjectPrototype)[0])
  );
}

function isIndex(key) {
  return typeof key === 'string' && key[0] >= '0' && key[0] <= '9';
}
