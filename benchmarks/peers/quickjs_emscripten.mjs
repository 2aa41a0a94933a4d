// quickjs-emscripten: QuickJS compiled to WebAssembly, a fresh runtime in this Node process.
import { createRequire } from 'node:module';

const { getQuickJS, shouldInterruptAfterDeadline } = createRequire(process.cwd() + '/')('quickjs-emscripten');

export class Adapter {
  async within(use) {
    const engine = await getQuickJS();
    const runtime = engine.newRuntime();
    runtime.setMemoryLimit(64 * 2 ** 20);
    const context = runtime.newContext();
    try {
      return await use(context, runtime);
    } finally {
      context.dispose();
      runtime.dispose();
    }
  }

  run(source) {
    if (source.gives === 'rich') throw Object.assign(new Error('no'), { missing: true });
    return this.within((context) => {
      if (source.gives === 'bytes') {
        const handle = context.unwrapResult(context.evalCode(source.script + '.buffer'));
        const lifetime = context.getArrayBuffer(handle);
        const value = lifetime.value.slice();
        lifetime.dispose();
        handle.dispose();
        return value;
      }
      return this.value(context, source.script);
    });
  }

  value(context, script) {
    const handle = context.unwrapResult(context.evalCode(script));
    const value = context.dump(handle);
    handle.dispose();
    return value;
  }

  install(context, name, host) {
    const handle = context.newFunction(name, host);
    context.setProp(context.global, name, handle);
    handle.dispose();
  }

  run_with(source, add) {
    return this.within((context) => {
      this.install(context, 'add', (number) => context.newNumber(add(context.getNumber(number))));
      return this.value(context, source.script);
    });
  }

  run_with_async(source, add) {
    return this.within(async (context, runtime) => {
      this.install(context, 'add', (number) => {
        const promise = context.newPromise();
        add(context.getNumber(number)).then((sum) => {
          promise.resolve(context.newNumber(sum));
          runtime.executePendingJobs();
        });
        return promise.handle;
      });
      const handle = context.unwrapResult(context.evalCode(source.later));
      const settled = context.resolvePromise(handle);
      handle.dispose();
      runtime.executePendingJobs();
      const value = context.unwrapResult(await settled);
      const result = context.dump(value);
      value.dispose();
      return result;
    });
  }

  reports(source, seen) {
    return this.within((context) => {
      this.install(context, 'report', (value) => void seen(context.dump(value)));
      this.value(context, source.script);
    });
  }

  // It has no terminate, only a deadline: the time beyond that.
  terminate(source) {
    return this.within((context, runtime) => {
      const began = performance.now();
      runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + 100));
      const result = context.evalCode(source.script);
      if (!result.error) throw new Error('it was not stopped');
      result.error.dispose();
      return (performance.now() - began) / 1000 - 0.1;
    });
  }

  async hold(count) {
    const engine = await getQuickJS();
    const held = [];
    for (let i = 0; i < count; i++) {
      const runtime = engine.newRuntime();
      const context = runtime.newContext();
      context.unwrapResult(context.evalCode('1')).dispose();
      held.push([runtime, context]);
    }
    return held;
  }
}
