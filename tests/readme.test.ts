import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), "utf8");

test("the README's first agent is the example that runs", async () => {
  const [readme, example] = [await read("README.md"), await read("examples/first-agent.ts")];
  const [, code] = /```ts\n(import \{ MarkdownSection[\s\S]*?)```/.exec(readme) ?? [];
  expect(code).toBe(example);
  expect(example.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
});

test("every program in a guide is an example that runs", async () => {
  const names = (await readdir(new URL("../examples/", import.meta.url))).filter((name) =>
    name.endsWith(".ts"),
  );
  const examples = await Promise.all(names.map((name) => read(`examples/${name}`)));
  const guides = await readdir(new URL("../docs/guides/", import.meta.url));
  expect(guides).toContain("openai.md");
  for (const guide of guides) {
    const code = [...(await read(`docs/guides/${guide}`)).matchAll(/```ts\n([\s\S]*?)```/g)];
    expect(code.length, guide).toBeGreaterThan(0);
    for (const [, program] of code) expect(examples, guide).toContain(program);
  }
});

test("the README names the two commands that a newcomer types", async () => {
  const readme = await read("README.md");
  expect(readme).toContain("npm ci && npm run demo");
  expect(readme).toContain("npm ci && npm test");
});

test.each([
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "GLOSSARY.md",
  "docs/decisions/README.md",
  "docs/guides/claude.md",
  "docs/guides/local.md",
  "docs/guides/long-sessions.md",
  "docs/guides/openai.md",
  "docs/guides/workspaces.md",
])("every link of %s leads somewhere", async (page) => {
  const links = [...(await read(page)).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(
    ([, to]) => to ?? "",
  );
  for (const to of links) {
    const target = new URL(to, new URL(`../${page}`, import.meta.url));
    await expect(
      readFile(target).catch((error) => error.code === "EISDIR"),
      to,
    ).resolves.toBeTruthy();
  }
});
