// Runs one program in this process, as `node program.js` would, as far as the program can tell.
//
// This file is started locked down, before there is a program; it reads it from the channel. A
// program is the body of an async function, so that it may await and require at its top. If it has
// import or export statements, it is an ES module, which Node loads from a file. Read behind calls.js.

const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');

const CHANNEL = 3;
const HEAD_BYTES = 20;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));
const PAUSE_MILLISECONDS = 1;
const UNSETTLED = 13; // Node's own exit code for an await that never ends

const IS_MODULE =
  /^(Cannot use import statement outside a module|Unexpected token 'export'|Cannot use 'import\.meta' outside a module)/;
const OPENING = '(async function (exports, require, module, __filename, __dirname) {\n';
const BARE = /^[^./#:][^:]*$/; // the name of a package, and perhaps a path in it
// The same for a Node whose hooks have a thread of their own.
const RESOLVER = `
let parentURL;
export function initialize(data) { parentURL = data; }
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !${BARE}.test(specifier)) throw error;
    return next(specifier, { ...context, parentURL });
  }
}`;
const EXPERIMENTAL = 'vm.USE_MAIN_CONTEXT_DEFAULT_LOADER';

function receive(size) {
  const found = Buffer.allocUnsafe(size);
  for (let at = 0; at < size; ) {
    const count = fs.readSync(CHANNEL, found, at, size - at, null);
    if (count === 0) process.exit(0); // the host has no program for it
    at += count;
  }
  return found;
}

/** A frame, as sandbox_kernel/wire/frame.py lays it out, with one attachment: the source. */
function receiveJob() {
  const head = receive(HEAD_BYTES);
  const body = receive(head.readUInt32LE(0) + 4 - HEAD_BYTES);
  const textEnd = 4 + head.readUInt32LE(16);
  const source = body.subarray(textEnd, textEnd + body.readUInt32LE(0));
  return { ...JSON.parse(body.toString('utf8', 4, textEnd)), source: source.toString('utf8') };
}

/** At once, whether the channel blocks (until the first call) or not, so that exiting loses nothing. */
function send(frame) {
  for (let at = 0; at < frame.length; ) {
    try {
      at += fs.writeSync(CHANNEL, frame, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(PAUSE, 0, 0, PAUSE_MILLISECONDS); // until the host has read some of it
    }
  }
}

let answers = null;

/** A program ends though nobody hangs up, but not while it awaits an answer. */
function wait(isWaiting) {
  if (answers === null) {
    const { Socket } = require('node:net');
    answers = new Socket({ fd: CHANNEL, readable: true, writable: false });
    answers.on('data', calls.hear).on('end', calls.end).on('error', calls.end);
  }
  if (isWaiting) answers.ref();
  else answers.unref();
}

const calls = makeCalls({ Buffer, send, wait });

function lend(name, value) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

/** What is not found from where it is asked for is looked for there: by `require`, and by `import`. */
function findPackagesIn(folder) {
  process.env.NODE_PATH = `${folder}/node_modules`;
  Module._initPaths();
  delete process.env.NODE_PATH;
  const parentURL = pathToFileURL(`${folder}/program.mjs`).href;
  if (Module.registerHooks) {
    Module.registerHooks({
      resolve(specifier, context, next) {
        try {
          return next(specifier, context);
        } catch (error) {
          if (error.code !== 'ERR_MODULE_NOT_FOUND' || !BARE.test(specifier)) throw error;
          return next(specifier, { ...context, parentURL });
        }
      },
    });
  } else {
    Module.register(`data:text/javascript,${encodeURIComponent(RESOLVER)}`, { data: parentURL });
  }
}

/** What `node program.js` would find. */
function settle(job, filename) {
  Object.assign(process.env, job.env);
  process.argv = [process.argv[0], filename, ...job.args];
  process.execArgv = [];
  delete require.cache[__filename];
  dropOurWarning();
  const lent = job.tools ? ['setResult', 'callTool', 'callToolsParallel'] : ['setResult'];
  if (job.installed !== undefined) {
    lent.push('installPackage');
    findPackagesIn(job.installed);
  }
  for (const name of lent) lend(name, calls[name]);
}

/** Null if it is an ES module; a SyntaxError is reported as Node reports it. */
function compiled(source, filename) {
  try {
    const script = new vm.Script(`${OPENING}${source}\n})`, {
      filename,
      lineOffset: -1,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    Object.getPrototypeOf(async () => {}).constructor(source); // brackets that close ours are refused
    return script.runInThisContext();
  } catch (error) {
    if (IS_MODULE.test(error.message)) return null;
    const [place] = error.stack.split(/\n {4}at /); // what follows are frames of ours
    process.stderr.write(
      `${place.startsWith(filename) ? '' : `${filename}\n`}${place}\n\nNode.js ${process.version}\n`,
    );
    return process.exit(1);
  }
}

/** Node warns that the loader of `import()` in such a body may change, which is our business. */
function dropOurWarning() {
  const { emitWarning } = process;
  process.emitWarning = function (warning, ...rest) {
    if (!String(warning).startsWith(EXPERIMENTAL)) return emitWarning.call(this, warning, ...rest);
    process.emitWarning = emitWarning;
  };
}

/** Started from a promise, so that no frame of ours is in its stack. */
function run(body, filename) {
  const main = new Module('.');
  main.filename = filename;
  main.paths = Module._nodeModulePaths(path.dirname(filename));
  Module._cache[filename] = process.mainModule = main;
  const required = Module.createRequire(filename);
  const args = [main.exports, required, main, filename, path.dirname(filename)];
  return Promise.resolve().then(body.bind(main.exports, ...args));
}

function load(source, filename) {
  fs.writeFileSync(filename, source);
  lend('require', Module.createRequire(filename));
  process.mainModule = undefined;
  return import(pathToFileURL(filename).href);
}

function main() {
  const { source: given, ...job } = receiveJob();
  const source = given.replace(/^#!/, '//');
  const filename = path.resolve(job.name);
  settle(job, filename);
  const body = compiled(source, filename);
  if (body === null) process.argv[1] = path.resolve(job.moduleName);
  let settled = false;
  const done = body ? run(body, filename) : load(source, path.resolve(job.moduleName));
  const note = () => {
    settled = true;
  };
  done.then(note, note);
  process.on('exit', (code) => {
    if (settled || code !== 0) return;
    process.stderr.write('Warning: the program ended while it awaited something that never comes\n');
    process.exitCode = UNSETTLED;
  });
  done.then(); // unhandled, so that Node reports what was thrown
}

main();
