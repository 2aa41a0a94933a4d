// structuredClone, which the engine lacks: the algorithm of the HTML standard, without what does not
// exist here (ports, streams, shared memory).
function structuredClone(value, options) {
  const memory = newMap();
  const transfer = options === undefined || options === null ? undefined : options.transfer;
  if (transfer !== undefined) transferBuffers(transfer, memory);
  return cloneValue(value, memory);
}

function cloneError(message) {
  return namedError('DataCloneError', message);
}

function transferBuffers(transfer, memory) {
  for (let i = 0; i < transfer.length; i++) {
    const buffer = transfer[i];
    if (typeof buffer !== 'object' || buffer === null || native.kind(buffer) !== 'ArrayBuffer') {
      throw cloneError('only an ArrayBuffer can be transferred');
    }
    memory.set(buffer, apply(bufferTransfer, buffer, []));
  }
}

function cloneValue(value, memory) {
  if (typeof value === 'symbol') throw cloneError(apply(symbolToString, value, []) + ' could not be cloned');
  if (typeof value === 'function')
    throw cloneError('function ' + functionName(value) + ' could not be cloned');
  if (typeof value !== 'object' || value === null) return value;
  if (memory.has(value)) return memory.get(value);
  if (isArray(value)) return cloneFields(value, remember(memory, value, newArray(value.length)), memory);
  const kind = native.kind(value);
  const cloner = cloners[kind];
  if (cloner !== undefined) return cloner(value, memory, kind);
  if (BinaryConstructors[kind] !== undefined) return cloneView(value, memory, kind);
  if (kind !== 'Object' && kind !== 'Arguments') throw cloneError(kind + ' could not be cloned');
  return cloneFields(value, remember(memory, value, {}), memory);
}

function newArray(length) {
  const made = [];
  made.length = length;
  return made;
}

function remember(memory, value, copy) {
  memory.set(value, copy);
  return copy;
}

function cloneFields(value, copy, memory) {
  const names = enumerableKeys(value);
  for (let i = 0; i < names.length; i++) put(copy, names[i], cloneValue(value[names[i]], memory));
  return copy;
}

const primitiveOf = {
  __proto__: null,
  Boolean: Boolean.prototype.valueOf,
  Number: Number.prototype.valueOf,
  String: String.prototype.valueOf,
  BigInt: BigInt.prototype.valueOf,
};
const ObjectFunction = Object;
const clonePrimitive = (value, memory, kind) =>
  remember(memory, value, ObjectFunction(apply(primitiveOf[kind], value, [])));

const cloners = {
  __proto__: null,
  Boolean: clonePrimitive,
  Number: clonePrimitive,
  String: clonePrimitive,
  BigInt: clonePrimitive,
  Date: (value, memory) => remember(memory, value, new DateConstructor(apply(dateGetTime, value, []))),
  RegExp: (value, memory) =>
    remember(
      memory,
      value,
      new RegExpConstructor(apply(regExpSource, value, []), apply(regExpFlags, value, [])),
    ),
  ArrayBuffer: (value, memory) => remember(memory, value, apply(bufferSlice, value, [0])),
  Map(value, memory) {
    const copy = remember(memory, value, new MapConstructor());
    const entries = newList();
    apply(mapForEach, value, [
      (item, key) => {
        entries[entries.length] = [key, item];
      },
    ]);
    for (let i = 0; i < entries.length; i++) {
      apply(mapSet, copy, [cloneValue(entries[i][0], memory), cloneValue(entries[i][1], memory)]);
    }
    return copy;
  },
  Set(value, memory) {
    const copy = remember(memory, value, new SetConstructor());
    const members = newList();
    apply(setForEach, value, [
      (item) => {
        members[members.length] = item;
      },
    ]);
    for (let i = 0; i < members.length; i++) apply(setAdd, copy, [cloneValue(members[i], memory)]);
    return copy;
  },
  Error(value, memory) {
    const described = describeError(value);
    const known = ErrorConstructors[described.name] !== undefined && described.name !== 'AggregateError';
    const copy = remember(
      memory,
      value,
      new ErrorConstructors[known ? described.name : 'Error'](described.message),
    );
    hide(copy, 'stack', described.stack === null ? '' : described.stack);
    const cause = getOwnPropertyDescriptor(value, 'cause');
    if (cause !== undefined) hide(copy, 'cause', cloneValue(value.cause, memory));
    return copy;
  },
};

function cloneView(value, memory, kind) {
  const isDataView = kind === 'DataView';
  const buffer = cloneValue(apply(isDataView ? dataViewBuffer : viewBuffer, value, []), memory);
  const offset = apply(isDataView ? dataViewOffset : viewOffset, value, []);
  const length = apply(isDataView ? dataViewLength : viewLength, value, []);
  return remember(memory, value, new BinaryConstructors[kind](buffer, offset, length));
}
