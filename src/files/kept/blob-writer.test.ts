import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { BlobWriter } from "./blob-writer.ts";

const sha256 = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("hex");

/** Stores texts, each as a file of `size` bytes, which is its length by default. */
function store(writer: BlobWriter, content: string | Buffer, size = content.length) {
  const path = join(temporaryTree(), "file");
  writeFileSync(path, content);
  const file = openSync(path, "r");
  try {
    return writer.store(file, size);
  } finally {
    closeSync(file);
  }
}

describe("BlobWriter", () => {
  test("gives files their names only when they are committed", () => {
    const folder = temporaryTree();
    using writer = new BlobWriter(folder);
    expect(store(writer, "one")).toEqual({ digest: sha256("one"), bytes: 3 });
    store(writer, "one");
    store(writer, "");
    expect(readdirSync(folder).every((name) => name.startsWith("tmp-"))).toBe(true);
    writer.commit();
    writer.commit();
    expect(readdirSync(folder).sort()).toEqual([sha256("one"), sha256("")].sort());
    expect(readFileSync(join(folder, sha256("one")), "utf8")).toBe("one");
    expect(statSync(join(folder, sha256("one"))).mode & 0o777).toBe(0o600);
  });

  test("removes what was not committed", () => {
    const folder = temporaryTree();
    {
      using writer = new BlobWriter(folder);
      store(writer, "one");
      store(writer, Buffer.alloc(5 * 2 ** 20, 1));
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  test("stores a large file once, and not again if it is there", () => {
    const folder = temporaryTree();
    const large = Buffer.alloc(9 * 2 ** 20, "abc");
    for (const _time of [1, 2]) {
      using writer = new BlobWriter(folder);
      store(writer, large);
      expect(store(writer, large)).toEqual({ digest: sha256(large), bytes: large.length });
      writer.commit();
    }
    expect(readdirSync(folder)).toEqual([sha256(large)]);
    expect(readFileSync(join(folder, sha256(large))).equals(large)).toBe(true);
  });

  test("replaces a stored file whose size is wrong", () => {
    const folder = temporaryTree({ [sha256("one")]: "damaged" });
    using writer = new BlobWriter(folder);
    store(writer, "one");
    writer.commit();
    expect(readFileSync(join(folder, sha256("one")), "utf8")).toBe("one");
  });

  test.each([3, 5 * 2 ** 20])(
    "stores what is there of a file that became shorter than %i bytes",
    (size) => {
      const folder = temporaryTree();
      using writer = new BlobWriter(folder);
      expect(store(writer, "ab", size)).toEqual({ digest: sha256("ab"), bytes: 2 });
    },
  );
});
