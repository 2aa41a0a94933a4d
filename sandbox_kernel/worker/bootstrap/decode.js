// Decodes values that the host sent. The host is trusted, the guest's prototypes are not: so properties
// are defined, never assigned.
function decode(text, buffers) {
  return decodeFrom(text, 0, buffers);
}

// A guest could catch the error and go on; the worker is told, which ends the run.
// What the host threw is a table with one error.
function decodeRejection(text, site) {
  const node = parse(apply(stringSlice, text, [1]))[1];
  return withCode(lateError(node[1], node[2], site), node[4]);
}

function withCode(error, code) {
  if (typeof code === 'string') put(error, 'code', code);
  return error;
}

function decodeFrom(text, start, buffers) {
  try {
    return decodeForm(text, start, buffers);
  } catch (error) {
    if (isExhaustion(error)) native.exhausted();
    throw error;
  }
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
    return item[1][0] === '-'
      ? -BigIntFunction('0x' + apply(stringSlice, item[1], [1]))
      : BigIntFunction('0x' + item[1]);
  }
  return made[tag];
}

function decodeNode(item, buffers) {
  switch (item[0]) {
    case 'a':
      return [];
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
