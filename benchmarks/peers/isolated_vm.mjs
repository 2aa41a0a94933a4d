// isolated-vm: a V8 isolate on a thread of this Node process.
import { createRequire } from 'node:module';

const ivm = createRequire(process.cwd() + '/')('isolated-vm');

export class Adapter {
  async within(use) {
    const isolate = new ivm.Isolate({ memoryLimit: 64 });
    try {
      return await use(await isolate.createContext(), isolate);
    } finally {
      if (!isolate.isDisposed) isolate.dispose();
    }
  }

  run(source) {
    return this.within(async (context, isolate) => {
      const script = await isolate.compileScript(source.script);
      return script.run(context, { copy: true });
    });
  }

  run_with(source, add) {
    return this.within(async (context) => {
      await context.global.set('add', new ivm.Callback(add));
      return context.eval(source.script, { copy: true });
    });
  }

  run_with_async(source, add) {
    return this.within(async (context) => {
      await context.evalClosure(
        'globalThis.add = (...args) => $0.apply(undefined, args, { result: { promise: true } })',
        [new ivm.Reference(add)],
      );
      return context.eval(source.later, { copy: true, promise: true });
    });
  }

  reports(source, seen) {
    return this.within(async (context) => {
      await context.global.set('report', new ivm.Callback(seen));
      await context.eval(source.script, { copy: true });
    });
  }

  terminate(source) {
    return this.within(async (context, isolate) => {
      const run = context.eval(source.script).catch(() => null);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const began = performance.now();
      isolate.dispose();
      await run;
      return (performance.now() - began) / 1000;
    });
  }

  async hold(count) {
    const held = [];
    for (let i = 0; i < count; i++) {
      const isolate = new ivm.Isolate({ memoryLimit: 64 });
      const context = await isolate.createContext();
      await context.eval('1');
      held.push([isolate, context]);
    }
    return held;
  }
}
