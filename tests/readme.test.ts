import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), "utf8");

test("the README's first agent is the example that runs", async () => {
  const [readme, example] = [await read("README.md"), await read("examples/first-agent.ts")];
  const [, code] = /```ts\n(import \{ MarkdownSection[\s\S]*?)```/.exec(readme) ?? [];
  expect(code).toBe(example);
  expect(example.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
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
