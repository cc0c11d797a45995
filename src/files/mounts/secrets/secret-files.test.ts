import { expect, test } from "vitest";
import { ORDINARY_PATHS, SECRET_PATHS } from "../../../../tests/support/secret-names.ts";
import { isSecretFile, secretAllowlist } from "./secret-files.ts";

test("isSecretFile() recognizes every name that secret scanners list, and its copies", () => {
  expect(SECRET_PATHS.length).toBeGreaterThanOrEqual(300);
  expect(SECRET_PATHS.filter((path) => !isSecretFile(`/p/${path}`))).toEqual([]);
});

test("isSecretFile() ignores case", () => {
  const paths = SECRET_PATHS.map((path) => `/P/${path.toUpperCase()}`);
  expect(paths.filter((path) => !isSecretFile(path))).toEqual([]);
});

test("isSecretFile() ignores ordinary names that resemble them", () => {
  expect(ORDINARY_PATHS.length).toBeGreaterThan(130);
  expect(ORDINARY_PATHS.filter((path) => isSecretFile(`/p/${path}`))).toEqual([]);
});

test("isSecretFile() is not misled by invisible characters, wide letters, spaces and dots at the end", () => {
  const disguised = [
    ".env ",
    ".env.",
    ".e\u200Bnv",
    "id\u2060_rsa",
    "．ｅｎｖ",
    "id_rsa .",
    "id_rsa.bak.bak.old.1~",
  ];
  expect(disguised.filter((name) => !isSecretFile(`/p/${name}`))).toEqual([]);
});

test("isSecretFile() takes a name of 255 marks apart in no time", () => {
  const started = performance.now();
  for (const name of [
    "~".repeat(255),
    ".1".repeat(127),
    `${"copy of ".repeat(31)}x`,
    "(1)".repeat(85),
  ]) {
    expect(isSecretFile(`/p/${name}`)).toBe(false);
  }
  expect(performance.now() - started).toBeLessThan(100);
});

test("secretAllowlist() allows secret files by path or by glob", () => {
  const allows = secretAllowlist([".env", "certs/[1].pem", "*.key"]);
  expect([".env", "certs/[1].pem", "a/b.key"].map(allows)).toEqual([true, true, true]);
  expect(["sub/.env", "certs/2.pem", ".env.local"].map(allows)).toEqual([false, false, false]);
  expect(secretAllowlist([])(".env")).toBe(false);
});
