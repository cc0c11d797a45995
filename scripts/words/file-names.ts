import {
  isExportDeclaration,
  isNamedExports,
  isVariableStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";

/**
 * Source files that are not named after an export, and why. Entry points (`index.ts`), and programs that export
 * nothing, need no line.
 */
export const FILE_NAME_EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ["src/adapter/durable-events.ts", "its exports are events, named in the past tense"],
  ["src/adapter/log-slices.ts", "its exports are public as toolLog and promptLog"],
  [
    "src/claude/tools/apply-patch.ts",
    "named after the kind; a longer export would name it elsewhere",
  ],
  ["src/claude/tools/code-interpreter.ts", "named after the kind, like apply-patch.ts"],
  ["src/openai/edge.ts", "its exports replace those of five other files"],
  ["src/mcp/mcp-events.ts", "its exports are events, named in the past tense"],
  [
    "src/openai/workspace/python-snippets.ts",
    "its exports are snippets of Python, named by purpose",
  ],
]);

/** The source files that are not named after their exports, with the exports. */
export function findMisnamedFiles(files: ReadonlyMap<string, SourceFile>): readonly string[] {
  return [...files].flatMap(([path, source]) => {
    const name = path.split("/").at(-1)?.replace(/\.ts$/, "") ?? "";
    const exported = findExports(source);
    if (name === "index" || exported.length === 0 || FILE_NAME_EXCEPTIONS.has(path)) return [];
    return isNamedAfter(name, exported) ? [] : [`${path} exports ${exported.join(", ")}`];
  });
}

/** Exceptions that no longer apply: the file is missing, or its name fits. */
export function findIdleExceptions(files: ReadonlyMap<string, SourceFile>): readonly string[] {
  return [...FILE_NAME_EXCEPTIONS.keys()].filter((path) => {
    const source = files.get(path);
    const name = path.split("/").at(-1)?.replace(/\.ts$/, "") ?? "";
    return source === undefined || isNamedAfter(name, findExports(source));
  });
}

/**
 * True if a file's name is an export's name in kebab case, or if each of its words occurs in the names of its
 * exports: `spelling-suggestion` may export `suggestSpelling`, and `tool-names` a few functions about them.
 */
export function isNamedAfter(name: string, exported: readonly string[]): boolean {
  if (exported.some((one) => toKebabCase(one) === name)) return true;
  const stems = new Set(exported.flatMap((one) => toKebabCase(one).split("-").map(toStem)));
  return name.split("-").every((word) => stems.has(toStem(word)));
}

/** The names that a file exports, in order. */
export function findExports(source: SourceFile): readonly string[] {
  return source.statements.flatMap((statement) => {
    if (isExportDeclaration(statement)) {
      const clause = statement.exportClause;
      return clause !== undefined && isNamedExports(clause)
        ? clause.elements.map(({ name }) => name.text)
        : [];
    }
    if (!isExported(statement)) return [];
    if (isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => name.getText(source));
    }
    const { name } = statement as Node & { readonly name?: Node };
    return name === undefined ? [] : [name.getText(source)];
  });
}

function isExported(statement: Node): boolean {
  const { modifiers } = statement as Node & { readonly modifiers?: readonly Node[] };
  return modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword) ?? false;
}

function toKebabCase(name: string): string {
  return name
    .replaceAll(/openai/gi, "Openai")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** A word without its ending, so that "suggestion" and "suggest", "files" and "file" are the same. */
function toStem(word: string): string {
  return word
    .replace(/ies$/, "y")
    .replace(/(?<=[^s])s$/, "")
    .replace(/(?<=.{3})(?:ation|ition|ion|ing|ed|er|or|able|ment)$/, "")
    .replace(/(?<=.{2})(?:e|y)$/, "");
}
