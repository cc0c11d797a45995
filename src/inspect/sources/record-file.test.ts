import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { RecordFile } from "./record-file.ts";

async function readFrom(file: RecordFile, from: number): Promise<readonly unknown[]> {
  const records: unknown[] = [];
  for await (const record of file.read(from)) records.push(record);
  return records;
}

test("reads a file from any record, also if it was not reached before", async () => {
  const file = new RecordFile(join(temporaryTree({ one: '{"a":0}\n{"a":1}\n{"a":2}\n' }), "one"));
  expect(await readFrom(file, 2)).toEqual([{ a: 2 }]);
  expect(await readFrom(file, 1)).toEqual([{ a: 1 }, { a: 2 }]);
  expect(await readFrom(file, 9)).toEqual([]);
});

test("names a line that is no record, unless the reader starts after it", async () => {
  const path = join(temporaryTree({ one: '{"a":0}\nnot JSON\n{"a":2}\n' }), "one");
  await expect(readFrom(new RecordFile(path), 0)).rejects.toThrow(
    /^Line 2 of .*one is not a record/,
  );
  expect(await readFrom(new RecordFile(path), 2)).toEqual([{ a: 2 }]);
});

test("refuses a folder", async () => {
  await expect(readFrom(new RecordFile(temporaryTree()), 0)).rejects.toThrow(
    /is not a file\. Pass the path of a session file\.$/,
  );
});
