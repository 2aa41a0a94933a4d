// What the worker gets back: its only ways into the realm. A guest can reach none of these functions.
hide(globalThis, 'structuredClone', structuredClone);

return {
  __proto__: null,
  decode,
  settle,
  settleAll,
  callGuest,
  execute,
  openExports,
  encodeResult,
  encodeFailure,
  encodeThrown,
  attachments: () => attachments,
  exportNames,
  waits: () => waiting !== 0,
  makeError: lateError,
  forScript,
  siteOf,
  runShim,
  builtins: (name) => (name === 'console' ? makeConsole() : report),
};
