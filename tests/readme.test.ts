import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createFullText, createMap } from "../scripts/llms/create-llms.ts";

const readPage = (path: string) => readFile(new URL(`../${path}`, import.meta.url), "utf8");

test.each([
  ["first-agent.ts", 0, 10],
  ["first-tool.ts", 1, 30],
] as const)("the README shows examples/%s, in few lines", async (name, index, maxLines) => {
  const example = await readPage(`examples/${name}`);
  const programs = [...(await readPage("README.md")).matchAll(/```ts\n([\s\S]*?)```/g)];
  expect(programs[index]?.[1]).toBe(example);
  expect(example.trimEnd().split("\n").length).toBeLessThanOrEqual(maxLines);
});

test("every guide shows a program", async () => {
  const guides = await readdir(new URL("../docs/guides/", import.meta.url));
  expect(guides).toContain("openai.md");
  for (const guide of guides) {
    expect(await readPage(`docs/guides/${guide}`), guide).toMatch(/^```ts$/m);
  }
});

// The questions of a newcomer, the page that answers each, and words of the answer.
test.each([
  ["How do I stop it after 10 minutes?", "docs/guides/budgets.md", "10 minutes"],
  ["Where do my files go?", "docs/guides/workspaces.md", "where do my files go"],
  ["How do I test this in CI?", "docs/guides/testing.md", "in ci"],
  ["How many tokens may it use?", "docs/guides/budgets.md", "how many tokens"],
  ["Can I use my own model?", "docs/guides/local-models.md", "own model"],
])("the README links to the answer of %j", async (_question, path, words) => {
  expect(await readPage("README.md")).toContain(`](${path}`);
  expect((await readPage(path)).toLowerCase().replaceAll(/\s+/g, " ")).toContain(words);
});

test("the workspaces guide shows the migration from VfsToolsSection with a program that CI runs", async () => {
  const program = await readMigrationProgram("From VfsToolsSection", "migrate-from-vfs.ts");
  expect(program).toMatch(/^const before = new VfsToolsSection\(/m);
  expect(program).toMatch(/^const after = new OpenAIContainerWorkspaceSection\(/m);
  expect(program).toMatch(/\bof \[before, after\]/);
});

test("the workspaces guide shows the migration from the Claude adapter, with the same mounts, with a program that CI runs", async () => {
  const heading = "From the Claude adapter's workspace";
  const program = await readMigrationProgram(heading, "migrate-from-claude.ts");
  const [, before = ""] = /^const before = (\{[\s\S]*?^\});/m.exec(program) ?? [];
  const [, after = ""] = /^const after = (\{[\s\S]*?^\});/m.exec(program) ?? [];
  expect(before).toContain("new ClaudeAgentWorkspaceSection(options)");
  expect(before).toContain("new ClaudeAgentSDKAdapter(");
  expect(after).toContain("new OpenAIContainerWorkspaceSection(options)");
  expect(after).toContain("new OpenAIAdapter(");
  expect(program).toMatch(/^const options = \{[^}]*\bmounts: /m);
  const compared =
    "isDeepStrictEqual(before.workspace.mountPreviews, after.workspace.mountPreviews)";
  expect(program).toContain(compared);
  expect(await readPage("examples/migrate-from-claude.ts")).toContain(
    "// prints: Both mount the same files.",
  );
});

/** Reads the program that a section of the workspaces guide links, without its comments. */
async function readMigrationProgram(heading: string, name: string): Promise<string> {
  const sections = (await readPage("docs/guides/workspaces.md")).split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${heading}\n`));
  expect(section, heading).toContain(`[examples/${name}](../../examples/${name})`);

  const { scripts } = JSON.parse(await readPage("package.json"));
  expect(scripts.check).toContain("npm run examples");
  expect(scripts.examples).toBe("node scripts/run-examples.ts");
  const cwd = fileURLToPath(new URL("../", import.meta.url));
  const run = ["scripts/run-examples.ts", "--list"];
  const listed = execFileSync(process.execPath, run, { cwd, encoding: "utf8" });
  expect(listed.split("\n")).toContain(`examples/${name}`);

  return (await readPage(`examples/${name}`)).replace(/^\s*\/\/.*$/gm, "");
}

test("the README contains the two commands for a fresh clone", async () => {
  const readme = await readPage("README.md");
  expect(readme).toContain("npm ci && npm run demo");
  expect(readme).toContain("npm ci && npm test");
});

test("docs/renames.md maps old names to files that exist", async () => {
  const page = await readPage("docs/renames.md");
  const rows = [...page.matchAll(/^\| `((?:src|tests)\/[^`*,]+\.ts)` \| `([^`]+)` \|$/gm)];
  expect(rows.length).toBeGreaterThan(300);
  for (const [, old = "", now = ""] of rows) {
    expect(existsSync(old), `${old} is back: remove its row`).toBe(false);
    expect(existsSync(now), `${now} was renamed: update its row`).toBe(true);
  }
});

test.each(["ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md"])(
  "every file and folder that %s names exists",
  async (page) => {
    const text = (await readPage(page)).replaceAll(/```[\s\S]*?```/g, "");
    const paths = [...text.matchAll(/`([a-z][\w.-]*\/[\w./-]*(?:\.ts|\/))`/g)]
      .map(([, path = ""]) => path)
      .filter((path) => !path.includes("my-kind") && !path.startsWith("weakincentives"));
    expect(paths.length).toBeGreaterThan(3);
    const missing = paths.filter((path) => !existsSync(path) && !existsSync(`src/${path}`));
    expect(missing).toEqual([]);
  },
);

test("llms.txt lists every guide, and llms-full.txt contains them", async () => {
  const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  const map = createMap(read("README.md"));
  expect(read("llms.txt"), "run npm run llms").toBe(map);
  expect(read("llms-full.txt"), "run npm run llms").toBe(createFullText(read));
  const guides = await readdir(new URL("../docs/guides/", import.meta.url));
  for (const guide of guides) expect(map).toContain(`(docs/guides/${guide})`);
});

test("a README without a table of guides is rejected", () => {
  expect(() => createMap("# Title\n\nText.\n\n## Other\n")).toThrow("no table of guides");
});
