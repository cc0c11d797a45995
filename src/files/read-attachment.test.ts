import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runAsPlainUser, temporaryTree } from "../../tests/support/temporary-tree.ts";
import { InvalidOptionError } from "../base/errors.ts";
import {
  type AttachmentLimit,
  checkAttachedSize,
  getFileName,
  getFileType,
  getImageType,
  readAttachment,
  toBase64,
} from "./read-attachment.ts";

const limit: AttachmentLimit = { maxBytes: 4, remedy: "cut it" };

describe("reading an attachment", () => {
  test("returns the bytes unchanged", async () => {
    const folder = temporaryTree({ a: new Uint8Array([0, 255, 13, 10]) });
    expect([...(await readAttachment(join(folder, "a"), limit))]).toEqual([0, 255, 13, 10]);
  });

  test("rejects an empty or too large file before reading it", async () => {
    const folder = temporaryTree({ empty: "", large: "12345" });
    const [empty, large] = ["empty", "large"].map((name) => join(folder, name));
    await expect(readAttachment(String(empty), limit)).rejects.toThrow("bytes (it has 0)");
    await expect(readAttachment(String(large), limit)).rejects.toThrow(
      `attach(files) must have 1 to 4 bytes (it has 5), got "${large}". Cut it.`,
    );
  });

  test("rejects a missing file or a folder with the reason and the cause", async () => {
    const folder = temporaryTree();
    mkdirSync(join(folder, "sub"));
    const missing = readAttachment(join(folder, "no"), limit);
    await expect(missing).rejects.toThrow(InvalidOptionError);
    await expect(missing).rejects.toMatchObject({
      field: "attach(files).path",
      message: expect.stringMatching(/must be a file that can be read \(ENOENT/),
      cause: { code: "ENOENT" },
    });
    const roomy: AttachmentLimit = { maxBytes: 1_000_000, remedy: "" };
    await expect(readAttachment(join(folder, "sub"), roomy)).rejects.toThrow("EISDIR");
  });

  test("rejects a file without read permission", async () => {
    const folder = temporaryTree({ "a/secret": "1" });
    const { chmodSync } = await import("node:fs");
    chmodSync(join(folder, "a/secret"), 0);
    await runAsPlainUser(async () => {
      const reading = readAttachment(join(folder, "a/secret"), limit);
      await expect(reading).rejects.toThrow(/must be a file that can be read \(EACCES/);
    });
  });
});

test("checkAttachedSize() accepts sizes from 1 byte to the limit", () => {
  for (const size of [1, 4]) expect(() => checkAttachedSize(size, "a", limit)).not.toThrow();
  for (const size of [0, 5]) {
    expect(() => checkAttachedSize(size, "a", limit)).toThrow(`(it has ${size})`);
  }
});

test.each([
  ["/a/b.txt", "b.txt"],
  ["C:\\a\\b.txt", "b.txt"],
  ["b.txt", "b.txt"],
  ["/a/b/", "/a/b/"],
])("the file name of %s is %s", (path, name) => {
  expect(getFileName(path)).toBe(name);
});

test.each([
  ["a.png", "image/png"],
  ["a.JPG", "image/jpeg"],
  ["a.b.jpeg", "image/jpeg"],
  ["a.gif", "image/gif"],
  ["a.webp", "image/webp"],
  ["a.svg", null],
  ["png", null],
  ["a.png.", null],
])("the image type of %s is %s", (filename, type) => {
  expect(getImageType(filename)).toBe(type);
});

test.each([
  ["a.pdf", "application/pdf"],
  ["a.JSON", "application/json"],
  ["a.csv", "text/csv"],
  ["a.md", "text/markdown"],
  ["a.html", "text/html"],
  ["a.xml", "application/xml"],
  ["a.txt", "text/plain"],
  ["a.png", "application/octet-stream"],
  ["constructor", "application/octet-stream"],
  ["a.constructor", "application/octet-stream"],
])("the document type of %s is %s", (filename, type) => {
  expect(getFileType(filename)).toBe(type);
});

test.each([0, 1, 2, 3, 0x8000 - 1, 0x8000, 0x8000 + 1, 100_000])(
  "%d bytes are encoded to base64 like Buffer does",
  (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => index % 256);
    expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
  },
);
