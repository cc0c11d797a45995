import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { listExamples } from "../scripts/examples/list-examples.ts";
import { findDocExamples } from "../scripts/words/doc-examples.ts";
import { findPublicMembers } from "../scripts/words/public-members.ts";
import { openProject } from "../scripts/words/typescript-project.ts";
import {
  type CommandContext,
  checkInlineCommands,
  checkShellBlocks,
} from "./support/documents/check-commands.ts";
import { checkFences } from "./support/documents/check-fences.ts";
import { checkLinks, checkPublishedLinks } from "./support/documents/check-links.ts";
import type { Page } from "./support/documents/parse-page.ts";
import { hasPath, openRepository } from "./support/documents/repository.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const repository = await openRepository(root);
const { published } = repository;
const pages = [...repository.pages.values()];
const examples = new Set(listExamples(root).map(({ source }) => source));
const context: CommandContext = {
  repository,
  packages: findPackages(),
  programs: new Set(readdirSync(new URL("../node_modules/.bin", import.meta.url))),
  variables: findVariables(),
};

/**
 * Files that the pages of the package link to and that it does not contain: pages for people who work on the
 * library, who have the repository.
 */
const REPOSITORY_ONLY = [
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "bench/RESULTS.md",
  "docs/attacks.md",
  "docs/audit.md",
  "docs/decisions/",
  "docs/licenses.md",
  "docs/requirements.md",
];

/** Finds the problems of all pages and prints one per line. */
const check = (find: (page: Page) => readonly string[]) => pages.flatMap(find).join("\n");

describe("Every page of the repository", () => {
  test("is found", () => {
    expect(pages.length).toBeGreaterThan(100);
    expect(repository.pages.has("README.md")).toBe(true);
  });

  test("links to files and anchors that exist, and to addresses with https", () => {
    expect(check((page) => checkLinks(page, repository))).toBe("");
  });

  test("links within the package if it is published", () => {
    expect(check((page) => checkPublishedLinks(page, published, REPOSITORY_ONLY))).toBe("");
    expect(REPOSITORY_ONLY.filter((path) => hasPath(published, path))).toEqual([]);
  });

  test("has code blocks that parse, in known languages, and whose programs are examples", () => {
    const select = ({ path }: Page) =>
      path.startsWith("docs/reference/") ? readDocExamples() : examples;
    expect(check((page) => checkFences(page, select(page)))).toBe("");
  });

  test("has commands that exist, with options that exist", () => {
    expect(check((page) => checkShellBlocks(page, context))).toBe("");
  });

  test("mentions commands and scripts that exist", () => {
    expect(check((page) => checkInlineCommands(page, context))).toBe("");
  });
});

/** The programs in doc comments, which `npm run types` compiles and the reference quotes. */
let docExamples: ReadonlySet<string> | null = null;
function readDocExamples(): ReadonlySet<string> {
  if (docExamples) return docExamples;
  using project = openProject(process.cwd());
  docExamples = new Set(findDocExamples(findPublicMembers(project)).map(({ code }) => code));
  return docExamples;
}

/** The packages that this project and its examples install, and the package itself. */
function findPackages(): ReadonlySet<string> {
  const manifests = [...repository.files].filter((file) => /(?:^|\/)package\.json$/.test(file));
  const names = manifests.flatMap((path) => {
    const manifest = JSON.parse(repository.read(path));
    const { dependencies, devDependencies, peerDependencies } = manifest;
    return Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
  });
  return new Set(["weakincentives", ...names]);
}

/** Names in capitals in the code, such as names of environment variables. */
function findVariables(): ReadonlySet<string> {
  const code = [...repository.files].filter((file) =>
    /^(?:(?:src|tests|scripts|examples|bench)\/.*\.(?:[mc]?[jt]s|sh)|\.ci\/\w+|\w+\.config\.ts)$/.test(
      file,
    ),
  );
  return new Set(
    code.flatMap((file) => repository.read(file).match(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g) ?? []),
  );
}
