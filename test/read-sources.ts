/** What the sources of the project say, read with the compiler's own parser: imports, names, functions, catches. */
import { dirname, join, relative } from 'node:path';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { type SourceNames, sourceNames } from './source-names.ts';

export interface Source extends SourceNames {
  /** From the root of the project. */
  readonly path: string;
  readonly imports: readonly string[];
  readonly functions: readonly { name: string; line: number; lines: number; parameters: number }[];
  /** Lines of catches that do nothing and do not say why. */
  readonly silentCatches: readonly number[];
}

const functionKinds = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
]);

/** Every file that the project's tsconfig names. */
export function readSources(root: string): Source[] {
  const api = new API({ cwd: root });
  try {
    const { rootFiles, program } = api
      .updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] })
      .getProjects()[0]!;
    return rootFiles.map(file => read(root, file, program.getSourceFile(file)!));
  } finally {
    api.close();
  }
}

function read(root: string, file: string, tree: SourceFile): Source {
  const { text } = tree;
  const path = relative(root, file).replaceAll('\\', '/');
  const imports = new Set<string>();
  const functions: Source['functions'][number][] = [];
  const silentCatches: number[] = [];
  const lineAt = (place: number) => text.slice(0, place).split('\n').length;
  const visit = (node: Node): undefined => {
    const target = importOf(node);
    if (target?.startsWith('.')) imports.add(join(dirname(path), target).replaceAll('\\', '/'));
    const size = functionOf(node);
    if (size) {
      const line = lineAt(node.getStart(tree));
      functions.push({ ...size, line, lines: lineAt(node.end) - line + 1 });
    }
    if (node.kind === SyntaxKind.CatchClause) {
      const block = text.slice(node.getStart(tree), node.end).replace(/^[^{]*\{/, '');
      if (/^\s*\}$/.test(block)) silentCatches.push(lineAt(node.getStart(tree)));
    }
    node.forEachChild(visit);
  };
  tree.forEachChild(visit);
  return { path, imports: [...imports], functions, silentCatches, ...sourceNames(path, tree) };
}

/** What an import or export declaration, or a call of import(), names. */
function importOf(node: Node): string | undefined {
  const {
    moduleSpecifier,
    expression,
    arguments: given,
  } = node as Node & {
    moduleSpecifier?: { text: string };
    expression?: Node;
    arguments?: readonly (Node & { text?: string })[];
  };
  if (node.kind === SyntaxKind.ImportDeclaration || node.kind === SyntaxKind.ExportDeclaration)
    return moduleSpecifier?.text;
  if (node.kind === SyntaxKind.CallExpression && expression?.kind === SyntaxKind.ImportKeyword) return given?.[0]?.text;
  return undefined;
}

function functionOf(node: Node): { name: string; parameters: number } | undefined {
  if (!functionKinds.has(node.kind)) return undefined;
  const { name, parameters } = node as Node & { name?: { text?: string }; parameters: readonly Node[] };
  return { name: name?.text ?? 'a function', parameters: parameters.length };
}
