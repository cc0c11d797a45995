import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { HostFilesystem } from "../../src/files/filesystem/host-filesystem.ts";
import { InMemoryFilesystem } from "../../src/files/filesystem/in-memory-filesystem.ts";
import { planMounts } from "../../src/files/mounts/plan-mounts.ts";
import { createSnippet } from "../../src/local/web/create-snippet.ts";
import { findInText } from "../../src/local/web/find-in-text.ts";
import { replaceText } from "../../src/prompt/sections/replace-text.ts";
import { runPatch } from "../../src/tools/patch/run-patch.ts";
import { attempt } from "../support/attacks/attempt.ts";
import { findStalls, measureStall } from "../support/attacks/measure-stall.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const surface = "patterns and patches";
const REFUSED = /EINVAL|The maximum is/;

function createFiles(text: string): HostFilesystem {
  return new HostFilesystem(temporaryTree({ f: text }));
}

async function createMemory(text: string): Promise<InMemoryFilesystem> {
  const filesystem = new InMemoryFilesystem();
  await filesystem.writeText("f", text);
  return filesystem;
}

/** Applies hunks to a file of equal lines. */
async function patchEqualLines(hunks: string): Promise<unknown> {
  const filesystem = await createMemory("x\n".repeat(100_000));
  return await runPatch(filesystem, `*** Begin Patch\n*** Update File: f\n${hunks}*** End Patch\n`);
}

attempt(
  {
    finding: "C8",
    surface,
    tries: "a search for ^(a|a)*$ in a line of 60 letters, on disk and in memory",
    shows: "The thread that searches is ended at the time limit, and the other code keeps running.",
  },
  async () => {
    const [text, options] = [`${"a".repeat(60)}b\n`, { timeoutMs: 500 }];
    const memory = await createMemory(text);
    return await findStalls(
      {
        "a host file": () => createFiles(text).grep("^(a|a)*$", options),
        "a file in memory": () => memory.grep("^(a|a)*$", options),
      },
      /took longer than 500 ms and was stopped/,
    );
  },
);

attempt(
  {
    finding: "C8",
    surface,
    tries: "globs of 5,000 double stars and of 100,000 brackets",
    shows: "Patterns have a maximum length and a maximum number of stars.",
  },
  async () => {
    const files = createFiles("x");
    return await findStalls(
      {
        "double stars": () => files.glob("**/".repeat(5_000)),
        "double stars within the length": () => files.glob("**/".repeat(1_300)),
        brackets: () => files.glob("[".repeat(100_000)),
        "brackets as an expression": () => files.grep("[".repeat(100_000)),
        "brackets in the glob of a search": () => files.grep("x", { glob: "[".repeat(100_000) }),
      },
      REFUSED,
    );
  },
);

attempt(
  {
    finding: "C8",
    surface,
    tries: "a patch of 2,000 hunks for a file of 100,000 equal lines",
    shows: "Lines are looked up in an index, and the comparisons of a patch are limited.",
  },
  () =>
    findStalls(
      { "2,000 hunks": () => patchEqualLines("@@\n-x\n+y\n".repeat(2_000)) },
      /takes more than 5000000 line comparisons/,
    ),
);

attempt(
  {
    finding: "C8",
    surface,
    tries: "a search for 1,000 characters in a page of a million",
    shows: "The search takes time in proportion to the text, for any words.",
  },
  () =>
    findStalls(
      {
        words: () => findInText("a ".repeat(500_000), `${"a ".repeat(499)}b`),
        letters: () => findInText("a".repeat(1_000_000), `${"a".repeat(999)}b`),
      },
      /^\[\]$/,
    ),
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "twelve expressions known to take exponential time, with nested, overlapping and lazy repetition, lookahead and references",
    shows: "Each search ends at its time limit.",
  },
  async () => {
    const filesystem = createFiles(`${"a".repeat(50)}!\n${"x".repeat(50)}!\n${"ab".repeat(30)}!\n`);
    const patterns = [
      "(a+)+$",
      "(a*)*$",
      "(a|aa)+$",
      "([a-z]+)*$",
      "(a?){50}a{50}$",
      "(x+x+)+y",
      "(?=(a+)+$)b",
      "(a+)+?$",
      "^(([a-z])+.)+[A-Z]([a-z])+$",
      "(.*)*\\1$",
      "((ab)*|(ba)*)*c",
      "(?:(?:a|ab)(?:b|))+$",
    ];
    const searches = patterns.map((pattern) => [
      pattern,
      () => filesystem.grep(pattern, { timeoutMs: 300, onIncomplete: () => {} }),
    ]);
    return await findStalls(Object.fromEntries(searches), /^\[/);
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "expressions that grow when they are compiled: nested counts, 2,000 groups, 1,300 alternatives",
    shows: "They are compiled in the thread, which is ended, or the engine refuses them.",
  },
  async () => {
    const filesystem = createFiles("aaaa\n");
    const options = { timeoutMs: 2_000, onIncomplete: () => {} };
    const patterns = {
      counts: "((a{1,999}){1,999}){1,999}b",
      groups: `${"(".repeat(2_000)}a${")".repeat(2_000)}`,
      alternatives: `(?:${"a|".repeat(1_300)}b)+c`,
      classes: "\\p{L}".repeat(600),
    };
    const searches = Object.entries(patterns).map(([what, pattern]) => [
      what,
      () => filesystem.grep(pattern, options),
    ]);
    return await findStalls(Object.fromEntries(searches), /^\[|EINVAL/);
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "a search that never ends, canceled after 200 ms",
    shows: "The signal ends the thread, and the search throws the signal's reason.",
  },
  async () => {
    const search = () =>
      createFiles(`${"a".repeat(60)}b\n`).grep("(a+)+$", { signal: AbortSignal.timeout(200) });
    const { elapsedMs, outcome } = await measureStall(search);
    const isEnded = elapsedMs < 5_000 && /timeout/.test(String(outcome));
    return { through: isEnded ? [] : [`ended after ${elapsedMs} ms with ${outcome}`] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "short globs with billions of alternatives, or with 256 alternatives of 2,000 stars each",
    shows: "Alternatives, their stars and their length are limited together.",
  },
  async () => {
    const files = createFiles("x");
    return await findStalls(
      {
        "many braces": () => files.glob("{a,b}".repeat(600)),
        "nested braces": () => files.glob(`${"{a,{b,".repeat(20)}c${"}}".repeat(20)}`.repeat(20)),
        "stars in alternatives": () => files.glob(`${"{*a,*b}".repeat(8)}${"*c".repeat(2_000)}`),
        "long alternatives": () => files.glob(`${"{a,b}".repeat(8)}${"?".repeat(4_000)}`),
      },
      REFUSED,
    );
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "a repository whose .gitignore has 250 rules of 2,000 stars",
    shows: "The mount is refused once the comparisons exceed a limit.",
  },
  () => {
    const names = Array.from({ length: 500 }, (_, n) => [`aaaaaaaaaaaa${n}`, ""]);
    const rules = `${"*a".repeat(2_000)}\n`.repeat(250);
    const hostPath = temporaryTree({ ".gitignore": rules, ...Object.fromEntries(names) });
    const mounts = [{ hostPath, mountPath: ".", gitignore: true }];
    const plan = () => planMounts(mounts, { allowedHostRoots: "any" });
    return findStalls({ rules: plan }, /has too many rules and stars/, 15_000);
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "a text file with a line of 60 MB and no newline",
    shows: "The line is skipped without being kept in memory, and the search reports it.",
  },
  async () => {
    const folder = temporaryTree({ f: "" });
    const file = openSync(join(folder, "f"), "a");
    for (let n = 0; n < 60; n++) writeSync(file, "é".repeat(500_000));
    writeSync(file, "\nowl\n");
    closeSync(file);
    const notes: string[] = [];
    const search = new HostFilesystem(folder).grep("owl", {
      onIncomplete: (reason) => notes.push(reason),
    });
    const found = JSON.stringify([await search, notes]);
    const expected = '[[{"path":"f","line":2,"text":"owl"}],["Skipped lines of more than 100000';
    return { through: found.startsWith(expected) ? [] : [found.slice(0, 300)] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "a search that matches 10,000 lines of 5,000 characters",
    shows: "It returns 1,000 matches of at most 2,000 characters.",
  },
  async () => {
    const folder = temporaryTree();
    const line = `${"m".repeat(5_000)}\n`;
    for (let n = 0; n < 20; n++) writeFileSync(join(folder, `f${n}`), line.repeat(500));
    const matches = await new HostFilesystem(folder).grep("m");
    const longest = Math.max(...matches.map(({ text }) => text.length));
    const isBounded = matches.length === 1_000 && longest <= 2_001;
    return { through: isBounded ? [] : [`${matches.length} matches of ${longest} characters`] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "an edit that replaces each of 8 million letters, or 1,000 letters with a megabyte each",
    shows:
      "Occurrences are counted first, and the size of the result is checked before it is created.",
  },
  () =>
    findStalls(
      {
        "many occurrences": () => replaceText("a".repeat(8_000_000), "a", "b"),
        "a large result": () => replaceText("a".repeat(1_000), "a", "b".repeat(2 ** 20)),
      },
      /more than 100000 times|Pass a shorter new_text/,
    ),
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "patches with 50,000 anchors, with one hunk of 50,000 equal lines, and with a hunk that almost matches everywhere",
    shows:
      "The same limit on comparisons covers anchors, long hunks and the search for the likeliest place.",
  },
  () =>
    findStalls(
      {
        anchors: () => patchEqualLines(`${"@@ x\n".repeat(50_000)}-x\n+y\n`),
        "a long hunk": () => patchEqualLines(`@@\n${" x\n".repeat(50_000)}-x\n+y\n`),
        "a hunk without a place": () => patchEqualLines(`@@\n${" x\n".repeat(50_000)}-z\n+y\n`),
        "anchored hunks": () => patchEqualLines("@@ x\n+y\n".repeat(2_000)),
      },
      /^Patch of/,
    ),
);

attempt(
  {
    finding: "own",
    surface,
    tries: "a patch of 100,000 operations",
    shows: "A patch may change 1,000 files.",
  },
  async () => {
    const filesystem = await createMemory("x");
    const headers = Array.from({ length: 100_000 }, (_, n) => `*** Delete File: ${n}\n`).join("");
    const patch = `*** Begin Patch\n${headers}*** End Patch\n`;
    return await findStalls({ operations: () => runPatch(filesystem, patch) }, /at most 1000/);
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "a web search with 64 words that all start like a hostile page",
    shows: "Snippets use the first 16 words, cut to 24 letters.",
  },
  () => {
    const terms = Array.from({ length: 64 }, (_, n) => `${"a".repeat(1_000 + n * 3)}b`);
    const search = () => createSnippet("a".repeat(200_000), terms);
    return findStalls({ search }, /^a+/);
  },
);
