import { readFileSync } from "node:fs";
import {
  isClassDeclaration,
  isFunctionDeclaration,
  isInterfaceDeclaration,
  isIntersectionTypeNode,
  isParenthesizedTypeNode,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
  isTypeReferenceNode,
  isUnionTypeNode,
  isVariableDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";
import { SymbolFlags } from "typescript/unstable/sync";
import { countLines } from "./declared-functions.ts";
import { isSource, type TypeScriptProject } from "./typescript-project.ts";

/** A name that users import, or a member of one. */
export interface PublicMember {
  readonly file: string;
  readonly line: number;
  /** `Session`, or `Session.close` for a member. */
  readonly name: string;
  /** The comment above it; empty if there is none. */
  readonly doc: string;
}

/**
 * Finds the names that the package's entry points export, and the members of exported interfaces, classes and
 * object types. Private members, constructors, overrides (which inherit the comment), overloads after the first
 * and the `name` of error classes are skipped.
 */
export function findPublicMembers(project: TypeScriptProject): readonly PublicMember[] {
  const members = new Map<Node, PublicMember>();
  for (const path of readEntryPoints()) {
    for (const declaration of findExportedDeclarations(project, path)) visit(declaration);
  }
  return [...members.values()].sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);

  function visit({ name, file, source, node }: ExportedDeclaration): void {
    add(name, node);
    if (isInterfaceDeclaration(node) || isClassDeclaration(node)) addMembers(name, node.members);
    else if (isTypeAliasDeclaration(node)) addTypeMembers(name, node.type);

    function add(name: string, node: Node): void {
      const documented = isVariableDeclaration(node) ? node.parent.parent : node;
      const start = node.getStart(source);
      const doc = readDocComment(source.text.slice(documented.pos, documented.getStart(source)));
      members.set(node, { file, line: countLines(source.text, start), name, doc });
    }

    function addMembers(owner: string, list: readonly Node[]): void {
      for (const member of list) {
        const key = (member as Node & { readonly name?: Node }).name?.getText(source);
        if (key === undefined || isExempt(owner, key, member)) continue;
        add(`${owner}.${key}`, member);
        const { type } = member as Node & { readonly type?: Node };
        if (type !== undefined && isTypeLiteralNode(type)) {
          addMembers(`${owner}.${key}`, type.members);
        }
      }
    }

    function addTypeMembers(owner: string, type: Node): void {
      if (isTypeLiteralNode(type)) addMembers(owner, type.members);
      else if (isUnionTypeNode(type) || isIntersectionTypeNode(type)) {
        for (const part of type.types) addTypeMembers(owner, part);
      } else if (isParenthesizedTypeNode(type)) addTypeMembers(owner, type.type);
      else if (isTypeReferenceNode(type)) {
        for (const argument of type.typeArguments ?? []) addTypeMembers(owner, argument);
      }
    }
  }
}

interface ExportedDeclaration {
  readonly name: string;
  readonly file: string;
  readonly source: SourceFile;
  readonly node: Node;
}

function readEntryPoints(): readonly string[] {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
    exports: Record<string, { readonly types?: string }>;
  };
  return Object.values(exports).flatMap(({ types }) =>
    types === undefined ? [] : [types.replace("./dist/", "src/").replace(/\.d\.ts$/, ".ts")],
  );
}

function findExportedDeclarations(
  { checker, files }: TypeScriptProject,
  path: string,
): readonly ExportedDeclaration[] {
  const entry = files.get(path);
  const module = entry === undefined ? undefined : checker.getSymbolAtLocation(entry);
  if (module === undefined) throw new Error(`${path} is not an entry point`);
  const paths = new Map([...files].map(([file, source]) => [source.fileName, file] as const));
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const isAlias = (exported.flags & SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
    const nodes = symbol.declarations.flatMap((handle) => handle.resolve() ?? []);
    return dropOverloads(nodes).flatMap((node) => {
      const source = node.getSourceFile();
      const file = paths.get(source.fileName);
      return file === undefined || !isLibrary(file)
        ? []
        : [{ name: symbol.name, file, source, node }];
    });
  });
}

/** True for a source outside the command line, whose events are not public. */
function isLibrary(file: string): boolean {
  return isSource(file) && !file.startsWith("src/cli/");
}

function dropOverloads(nodes: readonly Node[]): readonly Node[] {
  return nodes.filter((node, index) => index === 0 || !isFunctionDeclaration(node));
}

function isExempt(owner: string, key: string, member: Node): boolean {
  if (key.startsWith("#") || member.kind === SyntaxKind.SetAccessor) return true;
  if (key === "name" && owner.endsWith("Error")) return true;
  const { modifiers } = member as Node & { readonly modifiers?: readonly Node[] };
  return modifiers?.some(({ kind }) => kind === SyntaxKind.OverrideKeyword) ?? false;
}

function readDocComment(trivia: string): string {
  return /\/\*\*[\s\S]*?\*\/(?![\s\S]*\/\*\*)/.exec(trivia)?.[0] ?? "";
}
