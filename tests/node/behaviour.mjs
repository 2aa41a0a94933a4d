// Runs each program twice, as the TypeScript compiler compiles it and as it was erased, and prints
// what both did: what they logged, exported, imported and threw. Programs in, results out, as JSON.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import ts from 'typescript';

// A program may leave a rejection behind; that is its own business.
process.on('unhandledRejection', () => {});

const OPTIONS = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext };

function describe(value, depth = 4) {
  if (typeof value === 'function') {
    const names = Object.getOwnPropertyNames(value).filter((name) => !/^(length|name|prototype)$/.test(name));
    const own = depth ? names.map((name) => [name, describe(value[name], depth - 1)]) : names;
    return {
      function: value.name,
      length: value.length,
      own,
      prototype: Object.getOwnPropertyNames(value.prototype ?? {}),
    };
  }
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (value === undefined) return 'undefined';
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error || Object.prototype.toString.call(value) === '[object Error]')
    return `${value.name}: ${value.message}`;
  if (!depth) return '…';
  if (Array.isArray(value)) return value.map((item) => describe(item, depth - 1));
  return Object.fromEntries(
    Reflect.ownKeys(value).map((key) => [String(key), describe(Reflect.get(value, key), depth - 1)]),
  );
}

function importedNames(text) {
  const names = new Map();
  const file = ts.createSourceFile('a.js', text, ts.ScriptTarget.ESNext, false, ts.ScriptKind.JS);
  for (const node of file.statements) {
    if (!(ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) || !node.moduleSpecifier) continue;
    const found = names.get(node.moduleSpecifier.text) ?? new Set(['default']);
    names.set(node.moduleSpecifier.text, found);
    const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
    for (const element of bindings?.elements ?? []) found.add((element.propertyName ?? element.name).text);
  }
  return names;
}

async function run(text) {
  const logged = [];
  const log = (...values) => void logged.push(values.map((value) => describe(value)));
  const context = vm.createContext({ log, console: { log } });
  const outcome = { logged, imported: [] };
  try {
    const module = new vm.SourceTextModule(text, { context, identifier: 'program.ts' });
    const names = importedNames(text);
    await module.link((specifier) => {
      outcome.imported.push(specifier);
      const exported = [...(names.get(specifier) ?? [])];
      return new vm.SyntheticModule(
        exported,
        function () {
          for (const name of exported) this.setExport(name, `${specifier}:${name}`);
        },
        { context },
      );
    });
    await module.evaluate({ timeout: 2000 });
    outcome.exported = Object.fromEntries(
      Object.keys(module.namespace).map((key) => [key, describe(module.namespace[key])]),
    );
  } catch (error) {
    outcome.thrown = error?.name ? `${error.name}: ${error.message}` : describe(error);
    outcome.stack = String(error?.stack ?? '');
  }
  return outcome;
}

const results = [];
for (const { source, erased } of JSON.parse(readFileSync(0, 'utf8'))) {
  const compiled = ts.transpileModule(source, {
    compilerOptions: OPTIONS,
    fileName: 'program.ts',
    reportDiagnostics: true,
  });
  const errors = (compiled.diagnostics ?? []).map((found) =>
    ts.flattenDiagnosticMessageText(found.messageText, ' '),
  );
  results.push({
    errors,
    compiled: compiled.outputText,
    expected: await run(compiled.outputText),
    actual: await run(erased),
  });
}
console.log(JSON.stringify(results));
