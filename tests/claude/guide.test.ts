import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { hostedToolTable } from "../../src/claude/tools/hosted-tool-table.ts";

test("the guide's table of hosted tools is what the code does", async () => {
  const guide = await readFile(new URL("../../docs/guides/claude.md", import.meta.url), "utf8");
  expect(guide).toContain(`\n\n${hostedToolTable().trim()}\n\n`);
});
