// Both directions of calls: functions and promises of the host inside the realm, guest functions and
// promises lent to the host. Also how reports and logs are gathered, and how an export is executed.
const SYNC = 0; // the modes of a bridge; any other mode is a call without an answer
const ASYNC = 1;
// Number of a call, or of a promise of the host -> { resolve, reject }. The engine's Map is slow for
// consecutive numbers, so they are multiplied.
const pending = newMap();
const SPREAD = 0x9e3779b1;
const lent = newList(); // guest functions, by number
let waiting = 0; // how many promises are pending
let lastCall = 0;
let lendPromises = true;
let lastPromise = 0;
const SITES = 32;
const NAMES_AT_MOST = 31;
let sites = 0; // how many calls were noted where they were made

// The host is told, some at a time, which of its functions the guest can no longer reach.
const RELEASED_AT_ONCE = 64;
const unreachable = new FinalizationRegistry(release);
let released = '';
let releasedCount = 0;

function bridge(ident, mode, name) {
  // A method: it has the name, no prototype and no [[Construct]].
  const made = {
    [name](...args) {
      return invoke(ident, mode, args);
    },
  }[name];
  apply(registerForRelease, unreachable, [made, ident]);
  return made;
}

function release(ident) {
  released += (released === '' ? '' : ',') + ident;
  if (++releasedCount < RELEASED_AT_ONCE) return;
  native.release('P[' + released + ']');
  released = '';
  releasedCount = 0;
}

function invoke(ident, mode, args) {
  const plain = scalarsJSON(args) ?? plainJSON(args, true);
  const text = plain === undefined ? encodeOdd(args, 'args', false) : undefined;
  if (mode !== SYNC) {
    const call = mode === ASYNC ? ++lastCall : 0;
    const promise = mode === ASYNC ? pendingPromise(call) : undefined;
    if (text === undefined) gather('[' + call + ',' + ident + ',' + plain + '],', true);
    else callAtOnce(ident, call, text);
    return promise;
  }
  if (said.text !== '') native.flush();
  const call = ++lastCall;
  const reply = native.callSync(ident, call, text ?? 'P' + plain, attachments);
  if (reply[0] === 'p') return pendingPromise(call);
  const value = decodeFrom(reply, 1, reply[0] === 'b' ? native.buffers() : undefined);
  if (reply[0] === 't') throw value;
  return value;
}

// Calls that nobody waits for right now are gathered, except those whose arguments JSON cannot express.
function callAtOnce(ident, call, text) {
  if (said.text !== '') native.flush();
  native.call(ident, call, text, attachments);
}

function pendingPromise(ident) {
  waiting++;
  const site = sites < SITES ? callSite() : undefined;
  return new PromiseConstructor((resolve, reject) => {
    pending.set(imul(ident, SPREAD), { __proto__: null, resolve, reject, site });
  });
}

// Noting where a call is made takes longer than the rest of it, so that only the first ones have it.
function callSite() {
  sites++;
  return new ErrorConstructor();
}

// Takes the host's answer to an asynchronous call.
function settle(ident, threw, text, buffers) {
  const promise = noLongerPending(ident);
  if (promise === undefined) return;
  if (threw) promise.reject(decodeRejection(text, promise.site));
  else promise.resolve(decode(text, buffers));
}

// Takes many answers. Resolving a promise may run guest code (an accessor named `then`).
function settleAll(text) {
  const answers = decode(text);
  for (let i = 0; i < answers.length; i += 2) {
    const promise = noLongerPending(answers[i]);
    if (promise !== undefined) promise.resolve(answers[i + 1]);
  }
}

// The pending promise, or undefined if there is none: the host may have refused a whole value after it
// answered a part of it.
function noLongerPending(ident) {
  const key = imul(ident, SPREAD);
  const promise = pending.get(key);
  if (promise === undefined) return undefined;
  pending.delete(key);
  waiting--;
  return promise;
}

// The frames of an asynchronous call that is pending, if they were noted.
function siteOf(call) {
  const site = pending.get(imul(call, SPREAD))?.site;
  return site === undefined ? '' : (stackOf(site) ?? '');
}

function lendFunction(value) {
  lent[lent.length] = value;
  return lent.length - 1;
}

function lendPromise(promise) {
  const ident = ++lastPromise;
  native.watch(ident, promise);
  return ident;
}

// Runs a guest function for the host: a promise of its value.
function callGuest(ident, text, buffers) {
  return promiseFrom(lent[ident], decode(text, buffers));
}

// A promise of what a guest function gives.
function promiseFrom(called, args) {
  let value;
  try {
    value = apply(called, undefined, args);
  } catch (error) {
    return new PromiseConstructor((_resolve, reject) => reject(error));
  }
  return promiseOf(value);
}

// A promise is awaited itself: one that follows it would ask for its `then`, which may lie. Any other
// object that has a `then` is followed, as the language does.
function promiseOf(value) {
  return isPromise(value) ? value : new PromiseConstructor((resolve) => resolve(value));
}

function isPromise(value) {
  return typeof value === 'object' && value !== null && native.kind(value) === 'Promise';
}

function report(value) {
  const plain = plainJSON(value, true);
  if (plain !== undefined) gather('RP' + plain + '\n', false);
  else say('R', encodeOdd(value, 'report', false));
}

// What is to be sent is gathered in `said.text`: lines of reports and logs, or calls, never both, so that
// everything is sent in order. The worker also empties it while the guest computes, at any jump or call:
// so text is only ever appended, in one expression.
const { said } = native;
let saidLines = 0;
let saidAt = 0;
let saidCalls = false;

function say(letter, text) {
  if (attachments !== undefined) {
    native.flush();
    native.say(letter, text, attachments);
    return;
  }
  gather(letter + text + '\n', false);
}

function gather(line, isCall) {
  if (saidCalls !== isCall && said.text !== '') native.flush();
  saidCalls = isCall;
  said.text += line;
  const time = now();
  if (++saidLines >= 256 || time - saidAt > 3 || time < saidAt || line.length > 4096) {
    saidLines = 0;
    saidAt = time;
    native.flush();
  }
}

// The contract's steps 1 to 3 for the selected export: a promise of what it gives, or undefined if there
// is no such export.
function execute(namespace, name, args, call) {
  if (!apply(hasOwn, namespace, [name])) return undefined;
  const selected = namespace[name];
  if (typeof selected === 'function' && call) return promiseFrom(selected, args);
  if (args.length > 0) {
    throw namedError(
      'TypeError',
      "export '" + name + "' is not a function, so it cannot be called with arguments",
    );
  }
  return promiseOf(selected);
}

// The names of a module's exports, and the numbers under which the host may call those that are functions.
function openExports(namespace) {
  const names = ownKeys(namespace);
  const exports = newList();
  for (let i = 0; i < names.length; i++) {
    if (typeof names[i] !== 'string') continue; // Symbol.toStringTag
    const value = namespace[names[i]];
    exports[exports.length] = [names[i], typeof value === 'function' ? lendFunction(value) : -1];
  }
  return 'P' + spell(exports);
}

// The first of them, for a hint.
function exportNames(namespace) {
  const keys = ownKeys(namespace);
  let text = '';
  for (let i = 0; i < keys.length && i < NAMES_AT_MOST; i++) {
    if (typeof keys[i] === 'string') text += (text === '' ? '' : ',') + spell(cut(keys[i], NAME_AT_MOST));
  }
  return '[' + text + ']';
}

function encodeResult(value, lenient) {
  lendPromises = false;
  try {
    return encode(value, 'result', lenient);
  } finally {
    lendPromises = true;
  }
}

function encodeFailure(value) {
  const described = describeThrown(value);
  return spell([described.name, described.message, described.stack, described.engine, classNames(value)]);
}

function encodeThrown(value) {
  const described = describeThrown(value);
  if (described.engine) native.exhausted();
  return 'T' + spell([[0], ['e', described.name, described.message, placedStack(described)]]);
}
