import {
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isTemplateExpression,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";
import { getLeadingCommentRanges, getTrailingCommentRanges } from "typescript/unstable/ast/scanner";
import { countLines } from "./declared-functions.ts";

/** A passage that a person reads. */
export interface Passage {
  /** The path from the root of the repository. */
  readonly file: string;
  /** The line on which it begins, from 1. */
  readonly line: number;
  /** Its text, with code replaced by placeholders of the same length. */
  readonly text: string;
}

/** Finds the comments of a source file, and its strings of three words or more: messages, and titles of tests. */
export function findPassages(file: string, source: SourceFile): readonly Passage[] {
  const starts = new Set<number>();
  const passages: Passage[] = [];
  visit(source);
  visitComments(source.endOfFileToken);
  return passages;

  function visit(node: Node): void {
    visitComments(node);
    if (isText(node)) {
      const text = node.getText(source);
      if (isProse(text)) add(node.getStart(source), maskSubstitutions(text));
      if (isTemplateExpression(node)) return;
    }
    node.forEachChild(visit);
  }

  function visitComments(node: Node): void {
    const comments = [
      ...(getLeadingCommentRanges(source.text, node.pos) ?? []),
      ...(getTrailingCommentRanges(source.text, node.end) ?? []),
    ];
    for (const { pos, end } of comments) add(pos, maskCode(source.text.slice(pos, end)));
  }

  function add(start: number, text: string): void {
    if (starts.has(start)) return;
    starts.add(start);
    passages.push({ file, line: countLines(source.text, start), text });
  }
}

/** Replaces code blocks, inline code and link targets in Markdown with placeholders of the same length. */
export function maskCode(text: string): string {
  return text
    .replaceAll(/```[\s\S]*?```/g, (code) => code.replaceAll(/[^\n]/g, "x"))
    .replaceAll(/`[^`\n]*`/g, mask)
    .replaceAll(/\]\([^)\n]*\)/g, mask);
}

function isText(node: Node): boolean {
  return (
    isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) || isTemplateExpression(node)
  );
}

function isProse(text: string): boolean {
  return (text.match(/[A-Za-z]+ /g) ?? []).length >= 2;
}

function maskSubstitutions(text: string): string {
  return text.replaceAll(/\$\{[^}]*\}/g, mask);
}

function mask(code: string): string {
  return "x".repeat(code.length);
}
