// Errors that the bootstrap makes, and what a guest reads as the `stack` of any error: its own frames.
// The engine notes all frames when an error is made and gives them out through an accessor of
// Error.prototype. Ours stands in its place and leaves out the frames of the bootstrap, so that only
// reading a stack costs more, not throwing.
const FRAME_END = ')\n';
const BOOTSTRAP_FRAME = ' (<null>:0:1'; // the bootstrap is compiled without names of files and lines
const NATIVE_FRAME = ' (native';
const FRAMES = 10; // that the engine notes, unless told otherwise
const FRAMES_AT_MOST = 64; // that it can note

const errorStack = getOwnPropertyDescriptor(ErrorConstructor.prototype, 'stack');
const guestStack = {
  get stack() {
    return stackOf(this);
  },
};
defineProperty(ErrorConstructor.prototype, 'stack', {
  __proto__: null,
  get: getOwnPropertyDescriptor(guestStack, 'stack').get,
  set: errorStack.set,
  enumerable: false,
  configurable: true,
});

// What the engine noted, whatever the guest made of the property; undefined if it is not an error.
function stackOf(error) {
  const stack = apply(errorStack.get, error, []);
  return typeof stack === 'string' ? guestFrames(stack) : stack;
}

// A frame of a native function belongs to whoever called it, which is the next frame. If there is no
// next frame, because the engine notes only so many, the native function may have been called by us.
function guestFrames(stack) {
  if (apply(stringIndexOf, stack, [BOOTSTRAP_FRAME]) < 0) return stack;
  let shown = '';
  let natives = '';
  let start = 0;
  for (let count = 0; count < FRAMES; ) {
    const end = apply(stringIndexOf, stack, [FRAME_END, start]);
    if (end < 0) break;
    const frame = apply(stringSlice, stack, [start, end]);
    start = end + FRAME_END.length;
    if (apply(stringEndsWith, frame, [BOOTSTRAP_FRAME])) {
      natives = '';
    } else if (apply(stringEndsWith, frame, [NATIVE_FRAME])) {
      natives += frame + FRAME_END;
    } else {
      shown += natives + frame + FRAME_END;
      natives = '';
      count++;
    }
  }
  return shown;
}

// An Error of the realm with a name of its own. The guest's frames are below many of ours.
function namedError(name, message) {
  const known = ErrorConstructors[name];
  apply(setStackTraceLimit, ErrorConstructor, [FRAMES_AT_MOST]);
  const error = known === undefined ? new ErrorConstructor(message) : new known(message);
  apply(setStackTraceLimit, ErrorConstructor, [FRAMES]);
  if (known === undefined || name === 'AggregateError') hide(error, 'name', name);
  return error;
}

// The same for an error that comes while no code of the guest's runs. It gets the frames of `site`, an error
// made earlier for nothing else; or, without one, those of the `await` that throws it.
function lateError(name, message, site) {
  const error = site ?? native.error();
  const known = ErrorConstructors[name];
  setPrototypeOf(error, (known ?? ErrorConstructor).prototype);
  hide(error, 'message', message);
  if (known === undefined || name === 'AggregateError') hide(error, 'name', name);
  return error;
}
