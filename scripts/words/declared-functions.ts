import {
  isArrowFunction,
  isFunctionDeclaration,
  isFunctionExpression,
  isMethodDeclaration,
  isVariableDeclaration,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";

/** A function or method with a name, and where it is declared. */
export interface DeclaredFunction {
  /** The path from the root of the repository. */
  readonly file: string;
  /** The line of its name, from 1. */
  readonly line: number;
  /** Its name, without the `#` of a private method. */
  readonly name: string;
  /** True for a method of a class or an object. */
  readonly isMethod: boolean;
  /** Its text, without the comment above it. */
  readonly text: string;
}

/** Finds the functions of a file: declarations, methods, and variables that hold a function. */
export function findFunctions(file: string, source: SourceFile): readonly DeclaredFunction[] {
  const found: DeclaredFunction[] = [];
  visit(source);
  return found;

  function visit(node: Node): void {
    const name = getFunctionName(node);
    if (name !== undefined) {
      found.push({
        file,
        line: countLines(source.text, name.getStart(source)),
        name: name.getText(source).replace(/^#/, ""),
        isMethod: isMethodDeclaration(node),
        text: source.text.slice(node.getStart(source), node.end),
      });
    }
    node.forEachChild(visit);
  }
}

/** The number of a position's line, from 1. */
export function countLines(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

function getFunctionName(node: Node): Node | undefined {
  if (isFunctionDeclaration(node) || isMethodDeclaration(node)) return node.name;
  if (!isVariableDeclaration(node) || node.initializer === undefined) return undefined;
  const holdsFunction = isArrowFunction(node.initializer) || isFunctionExpression(node.initializer);
  return holdsFunction ? node.name : undefined;
}
