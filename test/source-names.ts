/** The names in one source file: what it exports and takes from others, its types, and what its classes show. */
import { dirname, join } from 'node:path';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';

export interface SourceNames {
  /** What it takes from other files, each as path#name; path#* where it takes the whole file or starts it as a thread. */
  readonly uses: readonly string[];
  /** Files and packages that are loaded with it: what it imports in full, not only types. */
  readonly loads: readonly string[];
  /** What it declares and exports. */
  readonly exports: readonly string[];
  /** Interfaces, type aliases and classes at its top level, exported or not. */
  readonly types: readonly string[];
  readonly classes: readonly { name: string; members: readonly string[] }[];
}

type Named = Node & {
  name?: Node & { text?: string; elements?: readonly Named[] };
  propertyName?: { text: string };
  modifiers?: readonly Node[];
};

const typeKinds = new Set([
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.ClassDeclaration,
]);
const hidden = new Set([SyntaxKind.PrivateKeyword, SyntaxKind.ProtectedKeyword]);

/** `path` is from the root of the project. */
export function sourceNames(path: string, tree: SourceFile): SourceNames {
  const uses = new Set<string>();
  const loads: string[] = [];
  const exports: string[] = [];
  const types: string[] = [];
  const classes: SourceNames['classes'][number][] = [];
  const take = (target: string | undefined, names: readonly string[]) => {
    if (!target?.startsWith('.')) return;
    const file = join(dirname(path), target).replaceAll('\\', '/');
    for (const name of names) uses.add(`${file}#${name}`);
  };
  for (const statement of tree.statements as readonly Named[]) {
    const loaded = loadedBy(statement);
    if (loaded !== undefined)
      loads.push(loaded.startsWith('.') ? join(dirname(path), loaded).replaceAll('\\', '/') : loaded);
    const declared = declaredNames(statement);
    if (has(statement, SyntaxKind.ExportKeyword)) exports.push(...declared);
    if (typeKinds.has(statement.kind)) types.push(...declared);
    if (statement.kind === SyntaxKind.ClassDeclaration)
      classes.push({ name: statement.name?.text ?? 'a class', members: publicMembers(statement) });
  }
  const visit = (node: Node): undefined => {
    const { moduleSpecifier, argument } = node as Node & {
      moduleSpecifier?: { text: string };
      argument?: { literal?: { text: string } };
    };
    if (moduleSpecifier) take(moduleSpecifier.text, takenNames(node));
    if (node.kind === SyntaxKind.ImportType) take(argument?.literal?.text, ['*']);
    const started = wholeFile(node);
    if (started) take(started, ['*']);
    node.forEachChild(visit);
  };
  tree.forEachChild(visit);
  return { uses: [...uses], loads, exports, types, classes };
}

const has = (node: Named, kind: SyntaxKind): boolean => node.modifiers?.some(each => each.kind === kind) ?? false;

function declaredNames(statement: Named): string[] {
  const { declarationList } = statement as Named & { declarationList?: { declarations: readonly Named[] } };
  const all = declarationList ? declarationList.declarations : [statement];
  return all.flatMap(
    ({ name }) => name?.elements?.map(each => each.name?.text ?? '') ?? (name?.text ? [name.text] : []),
  );
}

/** What an import or export declaration loads when its file is; with `type` before the names it loads nothing. */
function loadedBy(statement: Node): string | undefined {
  const { moduleSpecifier, importClause, isTypeOnly } = statement as Node & {
    moduleSpecifier?: { text: string };
    importClause?: { phaseModifier?: SyntaxKind };
    isTypeOnly?: boolean;
  };
  return isTypeOnly || importClause?.phaseModifier === SyntaxKind.TypeKeyword ? undefined : moduleSpecifier?.text;
}

/** What an import or export declaration takes; every name where it takes the file as one. */
function takenNames(node: Node): string[] {
  const { importClause, exportClause } = node as Node & {
    importClause?: { namedBindings?: { elements?: readonly Named[] } };
    exportClause?: { elements?: readonly Named[] };
  };
  const elements = importClause?.namedBindings?.elements ?? exportClause?.elements;
  return elements?.map(({ propertyName, name }) => propertyName?.text ?? name?.text ?? '') ?? ['*'];
}

/** The file that import() or new URL(…, import.meta.url) names. */
function wholeFile(node: Node): string | undefined {
  const { expression, arguments: given } = node as Node & {
    expression?: Node & { text?: string };
    arguments?: readonly (Node & { text?: string })[];
  };
  const loads = node.kind === SyntaxKind.CallExpression && expression?.kind === SyntaxKind.ImportKeyword;
  const names = node.kind === SyntaxKind.NewExpression && expression?.text === 'URL' && given?.length === 2;
  if (!loads && !names) return undefined;
  const text = given?.[0]?.text;
  return text === undefined || text.startsWith('.') ? text : `./${text}`;
}

/** A getter and its setter are one member; overloads, too. */
function publicMembers(statement: Named): string[] {
  const { members } = statement as Named & { members: readonly Named[] };
  const shown = members.filter(
    ({ name, modifiers }) =>
      name && name.kind !== SyntaxKind.PrivateIdentifier && !modifiers?.some(each => hidden.has(each.kind)),
  );
  return [...new Set(shown.map(({ name }) => name!.text ?? 'computed'))];
}

/** What a file that the compiler does not read takes from others: a component, a script, an example. */
export function usesInText(path: string, text: string): string[] {
  const taken = text.matchAll(/(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'(\.[^']+)'/g);
  return [...taken].flatMap(([, names, target]) =>
    names!.split(',').map(
      each =>
        `${join(dirname(path), target!)}#${
          each
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0]
        }`,
    ),
  );
}
