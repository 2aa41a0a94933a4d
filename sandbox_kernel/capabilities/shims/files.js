// Node's `fs` and `fs/promises` over functions of the host, one for each call.
const { apply, hide, namedError, viewOfBytes, utf8Decode } = kit;
const DateConstructor = Date;

const NAMES = [
  'readFile',
  'writeFile',
  'appendFile',
  'readdir',
  'stat',
  'mkdir',
  'rm',
  'rename',
  'copyFile',
  'exists',
  'access',
  'unlink',
];

// The arguments that the host takes, for the arguments that Node takes.
const encodingOf = (options) => (typeof options === 'string' ? options : (options?.encoding ?? null));
const dataOf = (data) => (typeof data === 'string' ? data : (viewOfBytes(data) ?? refuse(data)));
const isNew = (options) => writing(options) === 'wx';
const given = {
  __proto__: null,
  readFile: (path, options) => [path, encodingOf(options)],
  writeFile: (path, data, options) => [path, dataOf(data), isNew(options)],
  appendFile: (path, data, options) => (writing(options, 'a'), [path, dataOf(data)]),
  readdir: (path) => [path],
  stat: (path) => [path],
  mkdir: (path, options) => [path, options?.recursive === true],
  rm: (path, options) => [path, options?.recursive === true, options?.force === true],
  rename: (from, to) => [from, to],
  copyFile: (from, to) => [from, to],
  exists: (path) => [path],
  access: (path) => [path],
  unlink: (path) => [path],
};

// The flag that a file is written with; what would be written in another way than here is refused.
function writing(options, usual = 'w') {
  const encoding = encodingOf(options) ?? 'utf8';
  if (encoding !== 'utf8' && encoding !== 'utf-8' && encoding !== 'UTF-8') {
    throw namedError('TypeError', 'a string is written as utf8 here; for another encoding, write bytes');
  }
  const flag = (typeof options === 'object' ? options?.flag : undefined) ?? usual;
  if (flag !== usual && !(flag === 'wx' && usual === 'w')) {
    const known = usual === 'w' ? "'w' and 'wx'; to add to a file, use appendFile" : "'a'";
    throw namedError('TypeError', 'the flag of a write is none of ' + known);
  }
  return flag;
}

function refuse(data) {
  throw namedError('TypeError', 'the data must be a string, an ArrayBuffer or a view, not ' + typeof data);
}

const kinds = (kind) => ({
  isFile: () => kind === 'file',
  isDirectory: () => kind === 'folder',
  isSymbolicLink: () => kind === 'link',
});

// What Node gives, for what the host gives; of the other calls, `undefined`.
const taken = {
  __proto__: null,
  readFile: (data) => {
    if (typeof data !== 'string') hide(data, 'toString', () => utf8Decode(data, 0)); // as a Buffer has it
    return data;
  },
  readdir: (entries, path, options) => {
    const names = [];
    const withTypes = options?.withFileTypes === true;
    for (let i = 0; i < entries.length; i++) {
      const { 0: name, 1: kind } = entries[i];
      kit.put(names, i, withTypes ? { name, parentPath: path, ...kinds(kind) } : name);
    }
    return names;
  },
  stat: ({ 0: kind, 1: size, 2: mtimeMs }) => ({
    ...kinds(kind),
    size,
    mtimeMs,
    mtime: new DateConstructor(mtimeMs),
  }),
  exists: (found) => found,
};

function prepared(name, args) {
  const last = args[args.length - 1];
  if (typeof last === 'function') {
    throw namedError('TypeError', name + ' takes no callback here; await it, or use ' + name + 'Sync');
  }
  if (args[0] !== null && typeof args[0] === 'object' && typeof args[0].href === 'string') {
    throw namedError('TypeError', 'the path must be a string, not a URL');
  }
  return apply(given[name], undefined, args);
}

function finished(name, value, args) {
  const take = taken[name];
  return take === undefined ? undefined : take(value, args[0], args[1]);
}

const promises = {};
const synchronous = {};
for (const name of NAMES) {
  const later = host[name];
  const now = host[name + 'Sync'];
  promises[name] = {
    async [name](...args) {
      return finished(name, await apply(later, undefined, prepared(name, args)), args);
    },
  }[name];
  synchronous[name + 'Sync'] = {
    [name + 'Sync'](...args) {
      return finished(name, apply(now, undefined, prepared(name, args)), args);
    },
  }[name + 'Sync'];
}
const all = { ...promises, ...synchronous, promises };
return { __proto__: null, '': { ...all, default: all }, '/promises': { ...promises, default: promises } };
