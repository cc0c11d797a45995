import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../", import.meta.url);
const page = readFileSync(new URL("SECURITY.md", root), "utf8");

test("every test that SECURITY.md names exists, and every threat has one", () => {
  const named = [...page.matchAll(/`(tests\/[^`]+\.test\.ts)`/g)].map(([, file = ""]) => file);
  expect(named.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
  const threats = page.split("\n").filter((line) => /^\| (?!threat|---)/.test(line));
  expect(threats.length).toBeGreaterThan(9);
  expect(threats.filter((line) => !line.includes(".test.ts`"))).toEqual([]);
});

test("every file of tests/attacks shows something that SECURITY.md or docs/audit.md claims", () => {
  const pages = ["docs/audit.md", "docs/attacks.md"].map((path) =>
    readFileSync(new URL(path, root), "utf8"),
  );
  const text = [page, ...pages].join("\n");
  const files = readdirSync(new URL("tests/attacks/", root));
  expect(files.filter((file) => !text.includes(file))).toEqual([]);
});
