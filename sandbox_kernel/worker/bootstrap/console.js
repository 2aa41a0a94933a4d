// The console that captures: arguments are sent to the host as values, or described if they cannot cross.
const DEEPEST_GROUP = 100; // groups inside it are not indented any further

function makeConsole() {
  const counts = newMap();
  const timers = newMap();
  let depth = 0; // of groups

  function emit(level, method, args) {
    const indent = depth < DEEPEST_GROUP ? depth : DEEPEST_GROUP;
    let text;
    try {
      const plain = plainJSON(args);
      text =
        plain !== undefined
          ? 'P["' + level + '","' + method + '",' + indent + ',' + now() + ',' + plain + ']'
          : 'T' + encodeTable([level, method, indent, now(), args], 'console', true);
    } catch {
      text = encode([level, method, indent, now(), ['[a value that cannot be shown]']], 'console', true);
    }
    say('L', text);
  }
  const writer = (level, method) =>
    ({
      [method](...args) {
        emit(level, method, args);
      },
    })[method];
  const labelOf = (label) => (label === undefined ? 'default' : textOf(label));

  function elapsed(label, extra) {
    const started = timers.get(label);
    if (started === undefined) return emit('warn', 'warn', ["Timer '" + label + "' does not exist"]);
    const message = [label + ': ' + (now() - started) + 'ms'];
    for (let i = 0; i < extra.length; i++) put(message, i + 1, extra[i]);
    emit('log', 'log', message);
  }

  return {
    log: writer('log', 'log'),
    info: writer('info', 'info'),
    warn: writer('warn', 'warn'),
    error: writer('error', 'error'),
    debug: writer('debug', 'debug'),
    dir(value) {
      emit('log', 'log', [value]);
    },
    table: writer('log', 'table'),
    group(...args) {
      if (args.length > 0) emit('log', 'group', args);
      depth++;
    },
    groupCollapsed(...args) {
      if (args.length > 0) emit('log', 'group', args);
      depth++;
    },
    groupEnd() {
      if (depth > 0) depth--;
    },
    count(label) {
      const name = labelOf(label);
      const count = (counts.get(name) || 0) + 1;
      counts.set(name, count);
      emit('log', 'log', [name + ': ' + count]);
    },
    countReset(label) {
      counts.delete(labelOf(label));
    },
    time(label) {
      timers.set(labelOf(label), now());
    },
    timeLog(label, ...extra) {
      elapsed(labelOf(label), extra);
    },
    timeEnd(label) {
      elapsed(labelOf(label), []);
      timers.delete(labelOf(label));
    },
    assert(condition, ...args) {
      if (condition) return;
      if (typeof args[0] === 'string') put(args, 0, 'Assertion failed: ' + args[0]);
      else args = prepend('Assertion failed', args);
      emit('error', 'assert', args);
    },
    trace(...args) {
      const shown = prepend('Trace:', args);
      put(shown, shown.length, '\n' + stackOf(new ErrorConstructor()));
      emit('error', 'trace', shown);
    },
    clear() {},
  };

  function prepend(first, args) {
    const made = [first];
    for (let i = 0; i < args.length; i++) put(made, i + 1, args[i]);
    return made;
  }
}
