import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { renderHostedToolTable } from "../../src/claude/tools/render-hosted-tool-table.ts";

test("the Claude guide contains the current table of hosted tools", async () => {
  const guide = await readFile(new URL("../../docs/guides/claude.md", import.meta.url), "utf8");
  expect(guide).toContain(`\n\n${renderHostedToolTable().trim()}\n\n`);
});
