import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readHolder } from "./read-holder.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-holder-"));
  path = join(folder, "1.then.00000000.else%20where");
});
afterEach(() => rm(folder, { recursive: true }));

const process1 = { pid: 1, host: "else%20where" };

test("readHolder() returns what the holder has written", async () => {
  const holder = { owner: "worker 7", since: "2026-11-17T00:00:00.000Z" };
  await writeFile(path, JSON.stringify(holder));
  expect(await readHolder({ ...process1, path })).toEqual({ ...holder, path });
});

test("readHolder() describes the process if the lock was released while it was being read", async () => {
  expect(await readHolder({ ...process1, path })).toEqual({
    owner: "process 1 on else where",
    since: "1970-01-01T00:00:00.000Z",
    path,
  });
});

test.each([
  "",
  "{",
  "[]",
  '{"owner":"a"}',
  '{"owner":"\\u001b[2J","since":"2026-11-17T00:00:00.000Z"}',
  '{"owner":"a","since":"\\u001b[2J"}',
  '{"owner":"a","since":5}',
])("readHolder() falls back to the process and the file's time for %j", async (text) => {
  await writeFile(path, text);
  const found = await readHolder({ ...process1, path });
  expect(found.owner).toBe("process 1 on else where");
  expect(Math.abs(Date.parse(found.since) - Date.now())).toBeLessThan(60_000);
});

test("readHolder() returns a host name that is not encoded as it is", async () => {
  expect((await readHolder({ pid: 1, host: "50%", path })).owner).toBe("process 1 on 50%");
});
