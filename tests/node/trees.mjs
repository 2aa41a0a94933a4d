// Compares syntax trees: of a source as the TypeScript compiler compiles it, and of the same source
// erased. Both are read as JavaScript. Pairs in, the first difference of each (or null) out, as JSON.
import { readFileSync } from 'node:fs';
import ts from 'typescript';

const { SyntaxKind } = ts;
const OPTIONS = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  removeComments: true,
  isolatedModules: true,
};
const SILENT = new Set([
  SyntaxKind.EmptyStatement,
  SyntaxKind.SemicolonClassElement,
  SyntaxKind.JSDoc,
  SyntaxKind.EndOfFileToken,
]);

function isEmptyExport(node) {
  return ts.isExportDeclaration(node) && !node.moduleSpecifier && node.exportClause?.elements?.length === 0;
}

function label(node, leaf) {
  let text = SyntaxKind[node.kind];
  if (leaf && node.text !== undefined) text += ` ${JSON.stringify(node.text)}`;
  if (node.operator !== undefined) text += ` ${SyntaxKind[node.operator]}`;
  if (ts.isVariableDeclarationList(node)) text += ` ${node.flags & ts.NodeFlags.BlockScoped}`;
  return text;
}

function flatten(text) {
  const file = ts.createSourceFile('a.js', text, ts.ScriptTarget.ESNext, true, ts.ScriptKind.JS);
  const [error] = file.parseDiagnostics;
  if (error) {
    const place = JSON.stringify(text.slice(error.start, error.start + 40));
    return { error: `${ts.flattenDiagnosticMessageText(error.messageText, ' ')} at ${place}` };
  }
  const parts = [];
  (function visit(node) {
    while (ts.isParenthesizedExpression(node)) node = node.expression;
    if (SILENT.has(node.kind) || isEmptyExport(node)) return;
    let leaf = true;
    ts.forEachChild(node, () => {
      leaf = false;
    });
    parts.push(label(node, leaf), '(');
    ts.forEachChild(node, visit);
    parts.push(')');
  })(file);
  return { parts };
}

function difference(source, erased) {
  const expected = flatten(
    ts.transpileModule(source, { compilerOptions: OPTIONS, fileName: 'a.ts' }).outputText,
  );
  const actual = flatten(erased);
  if (expected.error) return `the compiler's own output: ${expected.error}`;
  if (actual.error) return actual.error;
  let at = 0;
  while (at < expected.parts.length && expected.parts[at] === actual.parts[at]) at += 1;
  if (at === expected.parts.length && at === actual.parts.length) return null;
  const show = (parts) => parts.slice(Math.max(0, at - 8), at + 10).join(' ');
  return `expected ${show(expected.parts)}\n     got ${show(actual.parts)}`;
}

const pairs = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(pairs.map(({ source, erased }) => difference(source, erased))));
