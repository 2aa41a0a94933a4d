/**
 * `setResult`, `callTool` and `callToolsParallel` of Node and Deno programs, over their channel.
 *
 * `send` writes bytes; `wait` is told whether calls are under way, and passes what comes back to `hear`.
 * Read together with the runtime's own file, behind PROTOCOL, the numbers of programs/protocol.py.
 */
function makeCalls({ Buffer, send, wait }) {
  const { RESULT, RESULT_BYTES, CALL, ANSWER, MOST_CALLS, MESSAGE_BYTES } = PROTOCOL;
  const HEAD_BYTES = 20;
  const under = new Map(); // calls under way, by number
  let number = 0;
  let unread = Buffer.alloc(0);

  /** As sandbox_kernel/wire/frame.py lays it out. */
  function frame(kind, a, text) {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(16 + text.length, 0);
    head.writeUInt32LE(kind, 4);
    head.writeUInt32LE(a, 8);
    head.writeUInt32LE(text.length, 16);
    return Buffer.concat([head, text]);
  }

  /** An error of the line that called `caller`. */
  function problem(kind, caller, why) {
    const error = new kind(why);
    Error.captureStackTrace(error, caller);
    return error;
  }

  function spelled(value, caller, what) {
    const text = JSON.stringify(value === undefined ? null : value);
    if (text === undefined) throw problem(TypeError, caller, `${caller.name}: ${what} must be JSON`);
    return text;
  }

  function setResult(data, files = []) {
    const refuse = (kind, why) => {
      throw problem(kind, setResult, `setResult: ${why}`);
    };
    const text = spelled(data, setResult, 'the data');
    if (!Array.isArray(files) || !files.every((name) => typeof name === 'string')) {
      refuse(TypeError, 'files must be an array of paths');
    }
    const message = Buffer.from(`{"data":${text},"files":${JSON.stringify(files)}}`);
    if (message.length > RESULT_BYTES) {
      refuse(RangeError, `the result has ${message.length} bytes, and at most ${RESULT_BYTES} come back`);
    }
    send(frame(RESULT, 0, message));
  }

  function begin(name, args, caller) {
    if (typeof name !== 'string') {
      throw problem(TypeError, caller, `a tool's name is text, not ${typeof name}`);
    }
    const text = spelled(args, caller, `the arguments of ${name}`);
    const message = Buffer.from(`{"name":${JSON.stringify(name)},"args":${text}}`);
    if (message.length > MESSAGE_BYTES / 2) {
      const size = `${message.length} bytes, which is too much`;
      throw problem(RangeError, caller, `the arguments of ${name} have ${size}`);
    }
    if (under.size >= MOST_CALLS) {
      throw problem(RangeError, caller, `at most ${MOST_CALLS} calls can be under way at once`);
    }
    const failure = problem(Error, caller, '');
    return new Promise((resolve, reject) => {
      number = (number + 1) >>> 0;
      under.set(number, { resolve, reject, failure });
      wait(true);
      send(frame(CALL, number, message));
    });
  }

  async function callTool(name, args) {
    return begin(name, args, callTool);
  }

  async function callToolsParallel(calls) {
    const pairs = Array.from(calls, pairOf);
    if (pairs.length > MOST_CALLS) {
      const most = `at most ${MOST_CALLS} can be made`;
      throw problem(RangeError, callToolsParallel, `${pairs.length} calls at once; ${most}`);
    }
    const begun = pairs.map(async ([name, args]) => begin(name, args, callToolsParallel));
    const ended = await Promise.allSettled(begun); // the first that failed, in their order
    return ended.map((each) => {
      if (each.status === 'rejected') throw each.reason;
      return each.value;
    });
  }

  /** Has the host install a package of npm: `NAME` or `NAME@VERSION`. */
  async function installPackage(name) {
    await begin('install_package', { name }, installPackage);
  }

  function pairOf(call) {
    if (typeof call === 'string') return [call, null];
    return Array.isArray(call) ? [call[0], call[1]] : [call.name, call.args];
  }

  function settle(kind, which, text) {
    const call = under.get(which);
    if (call === undefined) return;
    under.delete(which);
    if (under.size === 0) wait(false);
    const value = JSON.parse(text);
    if (kind === ANSWER) call.resolve(value);
    else call.reject(worded(call.failure, value));
  }

  function worded(failure, message) {
    const { stack } = failure;
    failure.message = message;
    if (typeof stack === 'string') failure.stack = stack.replace(/^Error/, () => `Error: ${message}`);
    return failure;
  }

  function hear(chunk) {
    unread = unread.length ? Buffer.concat([unread, chunk]) : chunk;
    while (unread.length >= HEAD_BYTES) {
      const end = unread.readUInt32LE(0) + 4;
      if (unread.length < end) return;
      const [kind, which] = [unread.readUInt8(4), unread.readUInt32LE(8)];
      const text = unread.toString('utf8', HEAD_BYTES, HEAD_BYTES + unread.readUInt32LE(16));
      unread = unread.subarray(end);
      settle(kind, which, text);
    }
  }

  /** The host answers no more. */
  function end() {
    for (const { reject, failure } of under.values()) {
      reject(worded(failure, 'the host does not answer any more'));
    }
    under.clear();
  }

  return { setResult, callTool, callToolsParallel, installPackage, hear, end };
}
