// The realm of a bare script (`jsrun`): the language without a clock and without chance, and two
// functions. Runs before the script, in a realm that nothing was lent to.
function forScript(input) {
  for (const name of ['queueMicrotask', 'structuredClone']) delete globalThis[name];
  hide(globalThis, 'Date', withoutClock(Date));
  hide(Math, 'random', function random() {
    throw new TypeError('Math.random is not available here');
  });
  return [(text) => report(StringFunction(text)), () => input];
}

// A constructor that makes moments, but not the present one; nothing leads to the original.
function withoutClock(original) {
  function LateDate(...moment) {
    if (new.target === undefined || moment.length === 0) throw noClock();
    return construct(original, moment, new.target);
  }
  defineProperty(LateDate, 'name', { __proto__: null, value: 'Date', configurable: true });
  defineProperty(LateDate, 'length', { __proto__: null, value: 7, configurable: true });
  defineProperty(LateDate, 'prototype', { __proto__: null, value: original.prototype, writable: false });
  hide(LateDate, 'parse', original.parse);
  hide(LateDate, 'UTC', original.UTC);
  hide(LateDate, 'now', function now() {
    throw noClock();
  });
  hide(original.prototype, 'constructor', LateDate);
  return LateDate;
}

const noClock = () => new TypeError('there is no clock here; give Date a moment');
