// What the shims of capabilities are made with. A shim is a script of the host's that runs before the guest,
// so it takes the intrinsics it needs then; from the bootstrap it gets what it cannot make itself.
const kit = freeze({
  __proto__: null,
  // A method as a function of its object, whatever the guest does to the prototype later.
  uncurry:
    (method) =>
    (self, ...args) =>
      apply(method, self, args),
  apply,
  hide,
  put,
  newMap,
  newList,
  namedError,
  viewOfBytes,
  utf8Decode: native.utf8Decode,
  utf8Encode: native.utf8Encode,
});

function runShim(make, host) {
  return make(host, kit);
}

// A Uint8Array of what an ArrayBuffer or a view holds; undefined for anything else.
function viewOfBytes(value) {
  if (value === null || typeof value !== 'object') return undefined;
  const kind = native.kind(value);
  const { Uint8Array: Bytes } = BinaryConstructors;
  if (kind === 'ArrayBuffer') return new Bytes(value);
  if (kind === 'DataView') {
    return new Bytes(
      apply(dataViewBuffer, value, []),
      apply(dataViewOffset, value, []),
      apply(dataViewLength, value, []),
    );
  }
  if (BinaryConstructors[kind] === undefined) return undefined;
  return new Bytes(
    apply(viewBuffer, value, []),
    apply(viewOffset, value, []),
    apply(viewByteLength, value, []),
  );
}
