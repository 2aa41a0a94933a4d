// What the bootstrap finds in the realm beside the language, for the compiler that checks it
// (tests/test_javascript.py).

/** What the worker hands to the bootstrap: see `_natives` of the realm. */
interface Native {
  said: { text: string };
  flush(): void;
  say(letter: string, text: string, attachments: unknown): void;
  kind(value: unknown): string;
  promise(value: unknown): string;
  call(ident: number, call: number, text: string, attachments: unknown): void;
  callSync(ident: number, call: number, text: string, attachments: unknown): string;
  buffers(): ArrayBuffer[];
  watch(ident: number, promise: unknown): void;
  release(idents: string): void;
  error(): Error;
  exhausted(): void;
  atCalls(name: string, stack: string): string;
  utf8Decode(bytes: Uint8Array, fatal: number): string | undefined;
  utf8Encode(text: string): ArrayBuffer;
}

// Of the engine, and removed from the realm by harden.js.
declare const InternalError: ErrorConstructor;
interface JSON {
  rawJSON?: unknown;
  isRawJSON?: unknown;
}
interface ErrorConstructor {
  prepareStackTrace?: unknown;
  stackTraceLimit?: unknown;
  captureStackTrace?: unknown;
}

// Literals without a prototype: `{ __proto__: null, value: 1 }`.
interface PropertyDescriptor {
  __proto__?: null;
}
