// The far end of a peer under Node: the same commands as driver.py, timed the same way.
const born = performance.now();
import fs from 'node:fs';
import os from 'node:os';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const REST = 50; // milliseconds, as in driver.py
const seconds = (since) => (performance.now() - since) / 1000;

function summary(value) {
  if (Array.isArray(value)) return [value.length, value.length ? summary(value.at(-1)) : null];
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return ['bytes', value.byteLength];
  if (value instanceof Date) return 'date';
  if (value instanceof Set) return 'set';
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, summary(item)]));
  }
  return value ?? null;
}

function counted() {
  const add = (number) => {
    const now = performance.now();
    if (!add.calls) add.first = now;
    add.calls++;
    add.last = now;
    return number + 1;
  };
  add.calls = 0;
  return add;
}

async function repeat(count, once) {
  const taken = [];
  let value;
  for (let i = 0; i < count; i++) [taken[i], value] = await once();
  return { seconds: taken, value: summary(value) };
}

const work = {
  timed: (adapter, source, count, rest) =>
    repeat(count, async () => {
      if (rest) await new Promise((wake) => setTimeout(wake, rest));
      const began = performance.now();
      const value = await adapter.run(source);
      return [seconds(began), value];
    }),
  rested: (adapter, source, count) => work.timed(adapter, source, count, REST),
  sync_calls: (adapter, source, count) =>
    repeat(count, async () => {
      const add = counted();
      const value = await adapter.run_with(source, add);
      return [(add.last - add.first) / 1000 / Math.max(1, add.calls - 1), value];
    }),
  async_calls: (adapter, source, count) =>
    repeat(count, async () => {
      const add = counted();
      const began = performance.now();
      const value = await adapter.run_with_async(source, async (number) => add(number));
      return [seconds(began), value];
    }),
  reports: (adapter, source, count) =>
    repeat(count, async () => {
      const seen = [];
      const began = performance.now();
      await adapter.reports(source, (value) => void seen.push(value));
      return [seconds(began), seen];
    }),
  terminate: (adapter, source, count) => repeat(count, async () => [await adapter.terminate(source), null]),
  async sustained(adapter, source, duration) {
    let count = 0;
    const end = performance.now() + duration * 1000;
    const lane = async () => {
      for (; performance.now() < end; count++) await adapter.run(source);
    };
    await Promise.all(os.cpus().map(lane));
    return { per_second: count / duration };
  },
  async hold(adapter, source, count) {
    const before = memory();
    const held = await adapter.hold(count);
    const after = memory();
    return { bytes: (after - before) / count, held: held.length };
  },
};
const methods = {
  timed: 'run',
  rested: 'run',
  sustained: 'run',
  sync_calls: 'run_with',
  async_calls: 'run_with_async',
};

function memory() {
  const text = fs.readFileSync('/proc/self/smaps_rollup', 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(text)[1]) * 1024;
}

const { Adapter } = await import(pathToFileURL(process.argv[2]));
const adapter = new Adapter();
if (process.argv.length > 3) {
  const value = await adapter.run(JSON.parse(process.argv[3]));
  console.log(JSON.stringify({ seconds: [seconds(born)], value: summary(value) }));
  process.exit(0);
}
for await (const line of readline.createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer = { missing: true };
  if (work[command.work] && adapter[methods[command.work] ?? command.work]) {
    try {
      answer = await work[command.work](adapter, command.source, command.count);
    } catch (error) {
      answer = error.missing ? { missing: true } : { error: String(error).slice(0, 300) };
    }
  }
  console.log(JSON.stringify(answer));
}
