import { expect, test } from "vitest";
import { createPaxRecords } from "../../../../tests/support/crafted-tar.ts";
import { parsePax } from "./pax-records.ts";

const parse = (text: string) => parsePax(Buffer.from(text));

test("parsePax() reads the path, the size and whether the file is sparse", () => {
  expect(
    parsePax(createPaxRecords({ path: "é/a=b\nc", size: "8589934592", mtime: "1.5" })),
  ).toEqual({
    path: "é/a=b\nc",
    bytes: 8_589_934_592,
  });
  expect(parsePax(createPaxRecords({ "GNU.sparse.major": "1" }))).toEqual({ isSparse: true });
  expect(parse("")).toEqual({});
});

test("parsePax() uses the last of two records with one key", () => {
  const records = Buffer.concat([createPaxRecords({ path: "a" }), createPaxRecords({ path: "b" })]);
  expect(parsePax(records)).toEqual({ path: "b" });
});

test("parsePax() returns null as the path if it is not UTF-8", () => {
  expect(parsePax(createPaxRecords({ path: Buffer.from([0xff]) }))).toEqual({ path: null });
});

test.each([
  "path=a\n",
  " path=a\n",
  "0 path=a\n",
  "8 path=a\n",
  "11 path=a\n",
  "10 path=a ",
  "-9 path=a\n",
  "99999999999999999999 path=a\n",
  "7 path\n",
  "7 path\n9 path=a\n",
  "9 path=a\n\0",
  "10 size=-1\n",
  "8 size=\n",
  "11 size=1e3\n",
  "26 size=9007199254740992\n",
  "25 size=9007199254740992\n",
])("parsePax() rejects malformed records: %j", (text) => {
  expect(parse(text)).toBeNull();
});
