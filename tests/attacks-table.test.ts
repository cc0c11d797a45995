import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findDifferences, replaceAttacks } from "./support/attacks/attacks-table.ts";
import type { AttackRecord } from "./support/attacks/attempt.ts";
import { splitCells } from "./support/proofs.ts";

const root = new URL("../", import.meta.url);
const page = readFileSync(new URL("docs/attacks.md", root), "utf8");
const rows = page.split("\n").filter((line) => /^\| \d+ \|/.test(line));

describe("docs/attacks.md", () => {
  test("lists at least 100 attempts that are not in the audit, each once", () => {
    const tries = rows.map((row) => splitCells(row)[1]);
    expect(tries.length).toBeGreaterThanOrEqual(100);
    expect(new Set(tries).size).toBe(tries.length);
  });

  test("links tests that declare attacks", () => {
    const files = new Set(rows.map((row) => /\]\(\.\.\/([^)]+)\) \|$/.exec(row)?.[1] ?? row));
    for (const file of files) {
      expect(existsSync(new URL(file, root)), file).toBe(true);
      expect(readFileSync(new URL(file, root), "utf8"), file).toMatch(/\battack\w*\(|\battempt\(/);
    }
  });
});

describe("replaceAttacks", () => {
  const record = (fields: Partial<AttackRecord>): AttackRecord => ({
    finding: "own",
    surface: "server",
    tries: "a | b",
    shows: "400",
    file: "tests/attacks/server.long.test.ts",
    tried: 1,
    through: 0,
    ...fields,
  });

  test("joins the users of one attack, omits attacks of the audit, and keeps the rest of the page", () => {
    const records = [record({ as: "user" }), record({ as: "root" }), record({ finding: "C1" })];
    const text = replaceAttacks(page, records);
    const [line, ...more] = text
      .split("\n")
      .filter((one) => one.startsWith("| 1 |") || one.startsWith("| 2 |"));
    expect(line).toBe(
      "| 1 | a \\| b | 400 | root, user | [server.long.test.ts](../tests/attacks/server.long.test.ts) |",
    );
    expect(more).toEqual([]);
    expect(text.startsWith("# More attacks\n")).toBe(true);
    expect(replaceAttacks(text, records)).toBe(text);
    expect(findDifferences(text, records)).toEqual([]);
    expect(findDifferences(text, [record({ tries: "c" })])).toEqual([
      "not on the page: c",
      "not in this run: a | b",
    ]);
  });

  test("refuses a page without the marks", () => {
    expect(() => replaceAttacks("# Attacks", [])).toThrow("are missing");
  });
});
