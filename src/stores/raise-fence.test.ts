import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { JsonlSessionStore } from "./jsonl-session-store.ts";
import { raiseFence } from "./raise-fence.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-fence-"));
  path = join(folder, "s.claim");
});
afterEach(() => rm(folder, { recursive: true }));

test("raiseFence() starts at the time and counts up, at any later time", async () => {
  expect(await raiseFence(path, 1_000.5)).toEqual({ fence: 1_001, before: null });
  expect(await raiseFence(path, 5_000)).toEqual({ fence: 1_002, before: 1_001 });
  expect(await raiseFence(path, 0)).toEqual({ fence: 1_003, before: 1_002 });
  expect(await readFile(path, "utf8")).toBe("0000000000001003\n");
});

test.each([
  "",
  "12",
  "x".repeat(16),
  "0000000000000000\n",
  "9007199254740991\n",
  "-000000000000001\n",
])("raiseFence() starts again at the time if the file has %j", async (text) => {
  await writeFile(path, text);
  expect(await raiseFence(path, 7_000)).toEqual({ fence: 7_001, before: null });
  expect(await raiseFence(path, 0)).toEqual({ fence: 7_002, before: 7_001 });
});

test("raiseFence() refuses a symlink", async () => {
  await writeFile(join(folder, "victim"), "mine");
  await symlink(join(folder, "victim"), path);
  await expect(raiseFence(path, 1)).rejects.toThrow(
    `its claim file ${path} is a symlink, not a file`,
  );
  expect(await readFile(join(folder, "victim"), "utf8")).toBe("mine");
});

test("raiseFence() counts up after the clock was set back", async () => {
  const before = await raiseFence(path, 2_000_000);
  const after = await raiseFence(path, 1_000_000);
  expect(after.fence).toBeGreaterThan(before.fence);
});

test("the error for a claim file that is a folder names it, and not the session's file", async () => {
  await using store = new JsonlSessionStore(folder);
  await store.append("s", { n: 0 });
  await rm(path);
  await mkdir(path);
  const remedy = "Remove it, and use a directory that only the user of this process can write to.";
  const message = `its claim file ${path} is a folder, not a file. ${remedy}`;
  const operations = [store.append("s", { n: 1 }), store.claim("s"), store.delete("s")];
  for (const operation of operations) await expect(operation).rejects.toThrow(message);
  await rm(path, { recursive: true });
  await store.append("s", { n: 1 });
});
