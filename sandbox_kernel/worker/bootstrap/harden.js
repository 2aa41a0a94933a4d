// Runs before any guest code. Takes references to every intrinsic that the other files use, then
// removes from the global object what the contract does not list. After this point the bootstrap must
// never look a method up on a prototype: no for-of, no spread of arrays, no array methods, no template
// literals (the engine compiles them to calls of String.prototype.concat), and no property writes to
// objects that inherit from something the guest can reach.
const { apply, construct, ownKeys, getPrototypeOf, setPrototypeOf, defineProperty } = Reflect;
const { getOwnPropertyDescriptor, keys: enumerableKeys, freeze, create } = Object;
const { isArray } = Array;
const { stringify, parse } = JSON;
const { now } = Date;
const { imul } = Math;
const registerForRelease = FinalizationRegistry.prototype.register;
const ObjectPrototype = Object.prototype;
const ArrayPrototype = Array.prototype;
const InternalErrorPrototype = InternalError.prototype;
const PromiseConstructor = Promise;
const MapConstructor = Map;
const SetConstructor = Set;
const DateConstructor = Date;
const ErrorConstructor = Error;
const RegExpConstructor = RegExp;
const BigIntFunction = BigInt;
const NumberFunction = Number;
const StringFunction = String;
const bigintToString = BigInt.prototype.toString;
const mapForEach = Map.prototype.forEach;
const MapPrototype = Map.prototype;
const SetPrototype = Set.prototype;
const DatePrototype = Date.prototype;
const mapSize = getOwnPropertyDescriptor(MapPrototype, 'size').get;
const setSize = getOwnPropertyDescriptor(SetPrototype, 'size').get;
const mapSet = Map.prototype.set;
const setForEach = Set.prototype.forEach;
const setAdd = Set.prototype.add;
const dateGetTime = Date.prototype.getTime;
const symbolToString = Symbol.prototype.toString;
const bufferSlice = ArrayBuffer.prototype.slice;
const bufferTransfer = ArrayBuffer.prototype.transfer;
const stringStartsWith = String.prototype.startsWith;
const stringEndsWith = String.prototype.endsWith;
const stringSlice = String.prototype.slice;
const stringIndexOf = String.prototype.indexOf;
const BinaryConstructors = {
  __proto__: null,
  ArrayBuffer,
  Uint8ClampedArray,
  Int8Array,
  Uint8Array,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  BigInt64Array,
  BigUint64Array,
  Float16Array,
  Float32Array,
  Float64Array,
  DataView,
};
const ErrorConstructors = {
  __proto__: null,
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
  AggregateError,
};
const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
const viewBuffer = getOwnPropertyDescriptor(TypedArrayPrototype, 'buffer').get;
const viewOffset = getOwnPropertyDescriptor(TypedArrayPrototype, 'byteOffset').get;
const viewLength = getOwnPropertyDescriptor(TypedArrayPrototype, 'length').get;
const viewByteLength = getOwnPropertyDescriptor(TypedArrayPrototype, 'byteLength').get;
const dataViewBuffer = getOwnPropertyDescriptor(DataView.prototype, 'buffer').get;
const dataViewOffset = getOwnPropertyDescriptor(DataView.prototype, 'byteOffset').get;
const dataViewLength = getOwnPropertyDescriptor(DataView.prototype, 'byteLength').get;
const regExpSource = getOwnPropertyDescriptor(RegExp.prototype, 'source').get;
const regExpFlags = getOwnPropertyDescriptor(RegExp.prototype, 'flags').get;

// Containers of our own. They inherit from frozen objects that no guest can reach.
const MapMethods = freeze({
  __proto__: null,
  get: Map.prototype.get,
  set: mapSet,
  has: Map.prototype.has,
  delete: Map.prototype.delete,
});
const SetMethods = freeze({ __proto__: null, has: Set.prototype.has, add: setAdd });
const newMap = () => setPrototypeOfValue(new MapConstructor(), MapMethods);
const newSet = () => setPrototypeOfValue(new SetConstructor(), SetMethods);
const newList = () => setPrototypeOfValue([], null);
function setPrototypeOfValue(value, prototype) {
  setPrototypeOf(value, prototype);
  return value;
}

// Defines an own data property, whatever setters the guest has put on prototypes.
function put(target, key, value) {
  defineProperty(target, key, {
    __proto__: null,
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

// The same, but not enumerable.
function hide(target, key, value) {
  defineProperty(target, key, {
    __proto__: null,
    value,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}

for (const name of ['eval', 'SharedArrayBuffer', 'Atomics', 'InternalError', 'escape', 'unescape']) {
  delete globalThis[name];
}
// A number in JSON is what the value says, never a text of the guest's.
delete JSON.rawJSON;
delete JSON.isRawJSON;

// The realm has no compiler, so the native constructor always throws. Without source text there is
// nothing to compile: that call gives an empty function, as in any engine.
const NativeFunction = Function;
function EmptyFunction(...sources) {
  if (sources.length === 0) return function anonymous() {};
  return apply(NativeFunction, undefined, sources);
}
for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(NativeFunction))) {
  defineProperty(EmptyFunction, key, descriptor);
}
for (const holder of [async () => {}, function* () {}, async function* () {}]) {
  setPrototypeOf(getPrototypeOf(holder).constructor, EmptyFunction);
}
hide(NativeFunction.prototype, 'constructor', EmptyFunction);
hide(globalThis, 'Function', EmptyFunction);

// A prepareStackTrace of the guest's would be given call sites in this very file.
const setStackTraceLimit = getOwnPropertyDescriptor(Error, 'stackTraceLimit').set;
delete Error.prepareStackTrace;
delete Error.stackTraceLimit;
delete Error.captureStackTrace;
