// What a Deno process runs: one job from stdin, its answer and its calls as JSON lines.
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const chunk = new Uint8Array(65536);
let rest = '';

function takeLine() {
  const end = rest.indexOf('\n');
  if (end < 0) return null;
  const line = rest.slice(0, end);
  rest = rest.slice(end + 1);
  return JSON.parse(line);
}

function readLine() {
  for (;;) {
    const line = takeLine();
    if (line !== null) return line;
    const count = Deno.stdin.readSync(chunk);
    rest += decoder.decode(chunk.subarray(0, count), { stream: true });
  }
}

function writeAll(bytes) {
  for (let at = 0; at < bytes.length; ) at += Deno.stdout.writeSync(bytes.subarray(at));
}

const write = (message) => writeAll(encoder.encode(JSON.stringify(message) + '\n'));

const job = readLine();
const waiting = new Map();
let calls = 0;

async function settle() {
  while (waiting.size) {
    const count = await Deno.stdin.read(chunk);
    rest += decoder.decode(chunk.subarray(0, count), { stream: true });
    for (let line = takeLine(); line !== null; line = takeLine()) {
      waiting.get(line.call)(line.value);
      waiting.delete(line.call);
    }
  }
}

globalThis.report = (report) => write({ report });
globalThis.add =
  job.bridge === 'async'
    ? (...args) => {
        const call = ++calls;
        write({ call, args });
        const promise = new Promise((resolve) => waiting.set(call, resolve));
        if (waiting.size === 1) settle();
        return promise;
      }
    : (...args) => {
        write({ args });
        return readLine().value;
      };

try {
  const kind = job.language === 'typescript' ? 'application/typescript' : 'text/javascript';
  const module = await import(`data:${kind},${encodeURIComponent(job.source)}`);
  const value = await module.default;
  if (job.gives === 'bytes') {
    write({ result: value.byteLength });
    writeAll(new Uint8Array(value.buffer));
  } else {
    write({ result: value ?? null });
  }
} catch (error) {
  write({ error: String(error) });
}
