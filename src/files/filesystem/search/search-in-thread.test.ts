import { truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { HostFilesystem } from "../host-filesystem.ts";
import { InMemoryFilesystem } from "../in-memory-filesystem.ts";
import { checkSearch } from "./check-search.ts";
import { reportOmissions, searchInThread } from "./search-in-thread.ts";

const SLOW = "(a+)+$";
const slowText = `${"a".repeat(60)}b\n`;

test("a search that reaches its time limit throws, or returns the matches so far with a reason", async () => {
  const root = temporaryTree({ a: "aaa\n", b: slowText });
  const files = new HostFilesystem(root);
  await expect(files.grep(SLOW, { timeoutMs: 300 })).rejects.toThrow(
    'EINVAL: "(a+)+$" took longer than 300 ms and was stopped. Use an expression without',
  );
  const reasons: string[] = [];
  const onIncomplete = (reason: string) => void reasons.push(reason);
  const found = await files.grep(SLOW, { timeoutMs: 2_000, onIncomplete });
  expect(found).toEqual([{ path: "a", line: 1, text: "aaa" }]);
  expect(reasons[0]).toMatch(/^The search took longer than 2000 ms and was stopped\./);
});

test("a search throws the signal's reason when it aborts, before and during the search", async () => {
  const files = new InMemoryFilesystem();
  await files.writeText("f", slowText);
  for (const pattern of [SLOW, "plain"]) {
    const aborted = files.grep(pattern, { signal: AbortSignal.abort(new Error("stop")) });
    await expect(aborted).rejects.toThrow("stop");
  }
  const running = files.grep(SLOW, { signal: AbortSignal.timeout(200) });
  await expect(running).rejects.toThrow("timeout");
});

test("a search passes on the error of its thread", async () => {
  const search = { ...checkSearch("a"), glob: "" };
  const source = { type: "files", files: [["f", new Uint8Array()]] } as const;
  await expect(searchInThread(search, source)).rejects.toThrow("is an empty pattern");
  const uncompilable = { ...checkSearch("a"), pattern: "(" };
  await expect(searchInThread(uncompilable, source)).rejects.toThrow("Unterminated group");
});

test("a search reports large files, and every kind of omission has a sentence", async () => {
  const root = temporaryTree({ big: "" });
  truncateSync(join(root, "big"), 256 * 2 ** 20 + 1);
  const reasons: string[] = [];
  const onIncomplete = (reason: string) => void reasons.push(reason);
  expect(await new HostFilesystem(root).grep("a", { onIncomplete })).toEqual([]);
  reportOmissions({ largeFiles: 0, longLines: 2, isCut: true }, onIncomplete);
  expect(reasons).toEqual([
    "Skipped files of more than 256 MiB: 1.",
    "Skipped lines of more than 100000 characters: 2.",
    "Skipped some of more than 1000000 files and folders.",
  ]);
});

test("grep() rejects an expression of more than 4,096 characters", async () => {
  await expect(new InMemoryFilesystem().grep("[".repeat(100_000))).rejects.toThrow(
    "is an expression of 100000 characters. The maximum is 4096.",
  );
});
