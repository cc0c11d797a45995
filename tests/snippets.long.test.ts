import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findSnippets, type Snippet } from "./support/documents/find-snippets.ts";
import {
  createPasteProject,
  isInstalled,
  type PastedProgram,
  type PasteProject,
} from "./support/documents/paste-project.ts";
import { openRepository } from "./support/documents/repository.ts";
import { hasBubblewrap } from "./support/workspace/workspace-fixture.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const snippets = findSnippets((await openRepository(root)).pages.values());

/** Warnings that a snippet may cause, and why. */
const EXPECTED_WARNINGS: readonly RegExp[] = [
  // The local provider stores its data with node:sqlite, which Node 22 calls experimental, in each process.
  /^\(node:\d+\) ExperimentalWarning: SQLite is .*\n\(Use `node --trace-warnings .*\n?/gm,
  // `wink run` notes that there is no key, and that `execFile` leaves standard input open.
  /^An echo answers instead of a model\. .*\n?|^Standard input is open and has sent nothing, .*\n?/gm,
];

/** `.ci/run` installs the oldest supported Node and sets this. */
const node22 = process.env["WINK_NODE22"];
const nodes: readonly (readonly [version: string, path: string])[] = [
  [process.version, process.execPath],
  ...(node22 ? [["22", node22] as const] : []),
];
const TIME_LIMIT = 120_000;

test("Node 22 is tested too: set WINK_NODE22 to its path", ({ skip }) => {
  if (!node22 && process.env["CI"] !== "true") skip("WINK_NODE22 is not set");
  expect(node22).toBeDefined();
});

describe("The programs of the README and the guides, in an empty project", () => {
  const usable = snippets.filter(({ needs }) => needs.every(isInstalled));
  const skipped = snippets.filter((snippet) => !usable.includes(snippet));
  const pasted = new Map<Snippet, PastedProgram>();
  let project: PasteProject;

  beforeAll(async () => {
    project = await createPasteProject();
    for (const snippet of usable) {
      // Without bubblewrap, the model's Python runs in WebAssembly, as the README says.
      const needs = hasBubblewrap ? snippet.needs : [...snippet.needs, "pyodide"];
      pasted.set(snippet, await project.paste(snippet.source, needs, snippet.extension));
    }
  }, 300_000);
  afterAll(() => project[Symbol.asyncDispose]());

  test("are found", () => expect(snippets.length).toBeGreaterThan(15));

  test("need only packages that are installed", ({ skip }) => {
    const missing = [...new Set(skipped.flatMap(({ needs }) => needs))].filter(
      (name) => !isInstalled(name),
    );
    if (process.env["CI"] !== "true" && missing.length > 0) {
      skip(`not installed: ${missing.join(", ")}`);
    }
    expect(missing).toEqual([]);
  });

  test("compile with tsc --strict, including the declarations of the package", async () => {
    const problems: string[] = [];
    for (const [needs, programs] of project.programs) {
      const [{ folder = "" } = {}] = programs;
      problems.push(await compile(join(folder, ".."), needs === ""));
    }
    expect(problems.join("")).toBe("");
  }, 300_000);

  describe.each(nodes)("on Node %s", (_version, path) => {
    const queue = new Queue(2);
    test.concurrent.each(usable.map((snippet) => [snippet.name, snippet] as const))(
      "%s prints its `// prints:` lines",
      async (_name, snippet) => {
        const program = pasted.get(snippet);
        if (!program) throw new Error(`${snippet.name} was not pasted`);
        const outcome = await queue.run(() =>
          runProgram({ path, program, snippet, wink: project.wink }),
        );
        expect(outcome).toEqual({
          code: 0,
          stdout: snippet.prints.join("\n"),
          stderr: "",
          files: [program.file],
          temporary: [],
        });
      },
      TIME_LIMIT * usable.length,
    );
  });
});

/** The error of `execFile`. */
interface Failure {
  readonly code: number | string;
  readonly killed: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

interface Run {
  readonly path: string;
  readonly program: PastedProgram;
  readonly snippet: Snippet;
  readonly wink: string;
}

/** Runs a pasted program without a key, and lists the files that it left. */
async function runProgram({ path, program, snippet, wink }: Run) {
  // A short path: the sandbox of the Claude Agent SDK has sockets in it.
  const temporary = await mkdtemp(join(tmpdir(), "wink-"));
  const args = snippet.isRunByWink ? [wink, "run", program.file] : [program.file];
  const outcome = await run(path, args, {
    cwd: program.folder,
    env: { PATH: process.env["PATH"], HOME: temporary, TMPDIR: temporary },
    timeout: TIME_LIMIT,
  }).catch((error: Failure) => error);
  const isLate = "killed" in outcome && outcome.killed;
  const left = await readdir(temporary);
  await rm(temporary, { recursive: true });
  return {
    code: "code" in outcome ? outcome.code : 0,
    stdout: outcome.stdout.trimEnd(),
    stderr: removeExpectedWarnings(outcome.stderr) + (isLate ? "The time limit is exceeded." : ""),
    files: await readdir(program.folder),
    temporary: left,
  };
}

function removeExpectedWarnings(stderr: string): string {
  return EXPECTED_WARNINGS.reduce((rest, warning) => rest.replace(warning, ""), stderr).trim();
}

/** Type-checks the programs of a folder as a user would. Returns what tsc prints. */
async function compile(folder: string, isLibraryChecked: boolean): Promise<string> {
  const config = {
    compilerOptions: {
      strict: true,
      target: "es2023",
      module: "nodenext",
      types: ["node"],
      noEmit: true,
      skipLibCheck: !isLibraryChecked,
    },
    include: ["*/*.mts"],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const printed = run(process.execPath, [tsc, "-p", folder], { cwd: folder });
  return (await printed.catch((error: { stdout: string }) => error)).stdout;
}

/** Runs a limited number of tasks at a time. */
class Queue {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(size: number) {
    this.#free = size;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
