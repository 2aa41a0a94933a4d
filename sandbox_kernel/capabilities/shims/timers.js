// Timers are kept here, in the order they are due; the host wakes us for the first of them.
// One timer fires each time, so that the jobs which it starts run before the next, as on other platforms.
const { wait, limit } = host;
const { uncurry, newList, namedError, apply } = kit;
const { now } = Date;
const NumberFunction = Number;
const PromiseConstructor = Promise;
const then = uncurry(Promise.prototype.then);
const LONGEST = 2 ** 31 - 1; // a longer delay is none, as on other platforms
const pending = newList();
const settled = PromiseConstructor.resolve();
let last = 0;
let wakesAt = Infinity;
let turn; // when the first timer of this turn was set

// All timers of one turn count from the same moment, as on other platforms: their delays order them.
function turnBegan() {
  if (turn === undefined) {
    turn = now();
    then(settled, () => (turn = undefined));
  }
  return turn;
}

function add(timer) {
  let at = pending.length;
  while (at > 0 && pending[at - 1].due > timer.due) {
    pending[at] = pending[at - 1];
    at--;
  }
  pending[at] = timer;
}

function remove(number) {
  let at = 0;
  while (at < pending.length && pending[at].number !== number) at++;
  if (at === pending.length) return undefined;
  const found = pending[at];
  for (; at < pending.length - 1; at++) pending[at] = pending[at + 1];
  pending.length--;
  return found;
}

// The host knows one moment to wake us at. Asking again replaces it.
function arm() {
  const due = pending.length === 0 ? Infinity : pending[0].due;
  if (due === wakesAt) return;
  wakesAt = due;
  const delay = due === Infinity ? -1 : due - now();
  const woken = wait(delay < 0 && due !== Infinity ? 0 : delay);
  if (due !== Infinity) then(woken, () => fire(due));
}

function fire(due) {
  if (due !== wakesAt) return; // another moment took the place of this one
  wakesAt = Infinity;
  const timer = pending[0];
  if (timer === undefined || timer.due > now()) return arm();
  remove(timer.number);
  if (timer.period !== undefined) {
    timer.due = now() + timer.period;
    add(timer);
  }
  arm();
  apply(timer.callback, undefined, timer.args);
}

function start(callback, delay, args, repeats) {
  if (typeof callback !== 'function') throw namedError('TypeError', 'the callback must be a function');
  if (pending.length >= limit)
    throw namedError('RangeError', 'at most ' + limit + ' timers may be pending at once');
  let ms = NumberFunction(delay);
  if (!(ms >= 1 && ms <= LONGEST)) ms = repeats ? 1 : 0;
  const number = ++last;
  add({ __proto__: null, number, due: turnBegan() + ms, period: repeats ? ms : undefined, callback, args });
  arm();
  return number;
}

function stop(number) {
  if (remove(number) !== undefined) arm();
}

const setTimeout = (callback, delay, ...args) => start(callback, delay, args, false);
const setInterval = (callback, delay, ...args) => start(callback, delay, args, true);
const clearTimeout = (number) => stop(number);
const clearInterval = (number) => stop(number);
const sleep = (ms) => new PromiseConstructor((resolve) => void start(() => resolve(), ms, [], false));
const later = {
  setTimeout: (ms, value) =>
    new PromiseConstructor((resolve) => void start(() => resolve(value), ms, [], false)),
};
const all = { setTimeout, clearTimeout, setInterval, clearInterval, sleep };
return {
  __proto__: null,
  '': { ...all, default: { ...all, promises: later } },
  '/promises': { ...later, default: later },
};
