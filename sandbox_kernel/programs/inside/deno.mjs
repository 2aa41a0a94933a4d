// What a Deno program finds beside Deno. Read behind calls.js, and loaded before the program.
// Deno's parts of Node take longer to load than all of Deno, so the first use of something loads them.

/** `setResult`, `callTool` and `callToolsParallel`, over the channel, which is a socket. */
function open() {
  const { Buffer } = process.getBuiltinModule('node:buffer');
  const { Socket } = process.getBuiltinModule('node:net');
  const channel = new Socket({ fd: 3 });
  let [isWaiting, unsent] = [false, 0];

  /** A program ends though nobody hangs up, but not while it awaits an answer or sends something. */
  function hold() {
    if (isWaiting || unsent) channel.ref();
    else channel.unref();
  }

  /** What fits into the channel is sent at once, so that exiting loses only what does not. */
  function send(frame) {
    unsent += 1;
    hold();
    channel.write(frame, () => {
      unsent -= 1;
      hold();
    });
  }

  function wait(waits) {
    isWaiting = waits;
    hold();
  }

  const calls = makeCalls({ Buffer, send, wait });
  channel.on('data', calls.hear).on('end', calls.end).on('error', calls.end);
  hold();
  return calls;
}

const names = Deno.env.get('SANDBOX_TOOLS') ? ['setResult', 'callTool', 'callToolsParallel'] : ['setResult'];
Deno.env.delete('SANDBOX_TOOLS');
Deno.permissions.revokeSync({ name: 'env', variable: 'SANDBOX_TOOLS' });
let calls;
for (const name of names) {
  Object.defineProperty(globalThis, name, {
    get: () => (calls ??= open())[name],
    set: (value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true }),
    configurable: true,
  });
}
