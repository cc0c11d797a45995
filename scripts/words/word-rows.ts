import { globSync, readFileSync } from "node:fs";
import type { MeasureRow } from "../measure-row.ts";
import { type DeclaredFunction, findFunctions } from "./declared-functions.ts";
import { findDialect } from "./dialect.ts";
import { findIdleExceptions, findMisnamedFiles } from "./file-names.ts";
import {
  findIdleParticiples,
  findOfNames,
  findParticiples,
  findRepeatedNames,
} from "./function-names.ts";
import { findPassages, maskCode, type Passage } from "./prose.ts";
import type { PublicMember } from "./public-members.ts";
import { isSource, type TypeScriptProject } from "./typescript-project.ts";

/** Measures the names of functions and files in `src`, and functions named by a participle everywhere. */
export function measureNames({ files }: TypeScriptProject): readonly MeasureRow[] {
  const sources = new Map([...files].filter(([path]) => isSource(path)));
  const functions = [...sources].flatMap(([path, source]) => findFunctions(path, source));
  const all = [...files].flatMap(([path, source]) => findFunctions(path, source));
  const participles = findParticiples(all);
  const repeated = findRepeatedNames(functions, 4);
  const misnamed = findMisnamedFiles(sources);
  const idle = [...findIdleParticiples(all), ...findIdleExceptions(sources)];
  return [
    {
      measure: "functions that begin with a participle, tests included",
      now: participles.length,
      anchors: "0-2 % in src",
      target: 0,
      where: participles.map(toPlace),
    },
    createOfRow(functions),
    {
      measure: "function names declared in more than 4 files",
      now: repeated.size,
      anchors: "-",
      target: 0,
      where: [...repeated].map(([name, declaredIn]) => `${name}: ${declaredIn.join(", ")}`),
    },
    {
      measure: "files that are not named after their exports",
      now: misnamed.length,
      anchors: "-",
      target: 0,
      where: misnamed,
    },
    {
      measure: "exceptions for names that no longer apply",
      now: idle.length,
      anchors: "-",
      target: 0,
      where: idle,
    },
  ];
}

/** Measures the dialect in comments, messages, test titles and pages, in phrases per 1,000 lines of prose. */
export function measureDialect({ files }: TypeScriptProject): readonly MeasureRow[] {
  const passages = [...files].flatMap(([path, source]) => findPassages(path, source));
  const guides = ["README.md", ...globSync("docs/guides/*.md")];
  const pages = globSync(["*.md", "docs/*.md", "docs/decisions/*.md"]);
  const others = pages.filter((page) => !guides.includes(page));
  return [
    createDialectRow("comments and messages of src", filterByFile(passages, isSource)),
    createDialectRow(
      "tests and scripts",
      filterByFile(passages, (file) => !isSource(file)),
    ),
    createDialectRow("README and guides", guides.flatMap(readPage)),
    createDialectRow("other pages", others.flatMap(readPage)),
  ];
}

/** Measures the comments of public names: how many have one, and how many names have an example. */
export function measureDocs(members: readonly PublicMember[]): readonly MeasureRow[] {
  const missing = members.filter(({ doc }) => doc === "");
  const names = members.filter(({ name }) => !name.includes("."));
  const withExample = names.filter(({ doc }) => doc.includes("@example"));
  return [
    {
      measure: "public names and members with JSDoc, in percent",
      now: toPercent(members.length - missing.length, members.length),
      anchors: "63 %",
      target: 100,
      atLeast: true,
      where: missing.map(toPlace),
    },
    {
      measure: "public names with an @example",
      now: withExample.length,
      anchors: "one each",
      target: 25,
      atLeast: true,
      where: withExample.map(({ name }) => name),
    },
  ];
}

function createOfRow(functions: readonly DeclaredFunction[]): MeasureRow {
  const found = findOfNames(functions);
  return {
    measure: "functions that end in Of, in percent",
    now: toPercent(found.length, functions.length),
    anchors: "0-1 %",
    target: 2,
    where: found.map(toPlace),
  };
}

function toPlace({ file, line, name }: Pick<DeclaredFunction, "file" | "line" | "name">): string {
  return `${file}:${line} ${name}`;
}

function createDialectRow(measure: string, passages: readonly Passage[]): MeasureRow {
  const lines = passages.reduce((sum, { text }) => sum + text.split("\n").length, 0);
  const phrases = findDialect(passages);
  return {
    measure: `dialect per 1,000 lines: ${measure}`,
    now: Math.round((10_000 * phrases.length) / lines) / 10,
    anchors: "1 (AI SDK)",
    target: 10,
    where: phrases.map(
      ({ file, line, phrase, advice }) => `${file}:${line} "${phrase}" (${advice})`,
    ),
  };
}

/** The lines of a page that have words. Code blocks count as no prose. */
function readPage(file: string): readonly Passage[] {
  const lines = maskCode(readFileSync(file, "utf8")).split("\n");
  return lines.flatMap((text, index) =>
    /[A-Za-z]{2,} [A-Za-z]/.test(text) ? [{ file, line: index + 1, text }] : [],
  );
}

function filterByFile(
  passages: readonly Passage[],
  isIncluded: (file: string) => boolean,
): readonly Passage[] {
  return passages.filter(({ file }) => isIncluded(file));
}

function toPercent(part: number, whole: number): number {
  return Math.floor((1000 * part) / whole) / 10;
}
