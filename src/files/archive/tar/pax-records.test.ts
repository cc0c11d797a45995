import { expect, test } from "vitest";
import { paxRecords } from "../../../../tests/support/crafted-tar.ts";
import { readPax } from "./pax-records.ts";

const read = (text: string) => readPax(Buffer.from(text));

test("records say a path, a size and whether there are holes", () => {
  expect(readPax(paxRecords({ path: "é/a=b\nc", size: "8589934592", mtime: "1.5" }))).toEqual({
    path: "é/a=b\nc",
    bytes: 8_589_934_592,
  });
  expect(readPax(paxRecords({ "GNU.sparse.major": "1" }))).toEqual({ isSparse: true });
  expect(read("")).toEqual({});
});

test("the last of two records holds", () => {
  const records = Buffer.concat([paxRecords({ path: "a" }), paxRecords({ path: "b" })]);
  expect(readPax(records)).toEqual({ path: "b" });
});

test("a path that is not UTF-8 is told as none", () => {
  expect(readPax(paxRecords({ path: Buffer.from([0xff]) }))).toEqual({ path: null });
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
])("what is not of their form is refused: %j", (text) => {
  expect(read(text)).toBeNull();
});
