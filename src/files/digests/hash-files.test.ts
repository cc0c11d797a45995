import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { asPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { writeTar } from "../archive/tar/tar-writer.ts";
import { hashFiles } from "./hash-files.ts";

const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const refusal = (path: string, code: string, problem: string) =>
  expect.objectContaining({
    name: "FilesystemError",
    code,
    path,
    message: expect.stringContaining(problem),
  });

describe("the files of a folder", () => {
  test("are hashed by their paths, however large", () => {
    const large = Buffer.alloc(2_500_000, "abc");
    const folder = temporaryTree({ large, "a/b.txt": "hello", "a/empty": "", none: null });
    const digests = {
      "a/b.txt": sha256("hello"),
      "a/empty": sha256(""),
      large: sha256(large),
    };
    expect(Object.fromEntries(hashFiles(folder))).toEqual(digests);
    expect(Object.fromEntries(hashFiles(`${folder}/`))).toEqual(digests);
    expect(hashFiles(temporaryTree()).size).toBe(0);
  });

  test("are in the order of its tar", () => {
    const folder = temporaryTree({ "a/b": "", "a.b": "", a0: "", é: "", "😀": "", "\uf8ff": "" });
    const chunks: Uint8Array[] = [];
    writeTar(folder, (chunk) => chunks.push(chunk));
    const listed = execFileSync("tar", ["-tf", "-", "--quoting-style=literal"], {
      input: Buffer.concat(chunks),
      encoding: "utf8",
    });
    const packed = listed.split("\n").filter((path) => path !== "" && !path.endsWith("/"));
    expect([...hashFiles(folder).keys()]).toEqual(packed);
  });
});

describe("nothing is hashed if there is", () => {
  test("no folder, or a file in its place", () => {
    const folder = temporaryTree({ file: "1" });
    expect(() => hashFiles(join(folder, "gone"))).toThrow(
      refusal(`${join(folder, "gone")}/`, "ENOENT", "a folder has digests of all its files"),
    );
    expect(() => hashFiles(join(folder, "file"))).toThrow(
      refusal(`${join(folder, "file")}/`, "ENOTDIR", "a folder has digests of all its files"),
    );
  });

  test.each(["symlink", "pipe"])("a %s", (kind) => {
    const folder = temporaryTree({ a: "1" });
    const odd = join(folder, "odd");
    if (kind === "symlink") symlinkSync(join(folder, "a"), odd);
    else execFileSync("mkfifo", [odd]);
    expect(() => hashFiles(folder)).toThrow(
      refusal(odd, "EINVAL", "is neither file nor folder: remove it, then digest"),
    );
  });

  test("a file that may not be read", async () => {
    const folder = temporaryTree({ a: "1" });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "a"), 0o000);
    await asPlainUser(() => {
      expect(() => hashFiles(folder)).toThrow(
        refusal(join(folder, "a"), "EACCES", "a folder has digests of all its files, or none"),
      );
    });
  });

  test.each([
    ["grows", 'appendFileSync(path, "x")'],
    ["becomes shorter", "truncateSync(path, count % 2 === 0 ? 2e7 : 4e7)"],
  ])("a file that %s while it is read", async (_, change) => {
    const folder = temporaryTree({ large: "" });
    const path = join(folder, "large");
    truncateSync(path, 4e7);
    await changing(path, change);
    expect(() => hashFiles(folder)).toThrow(
      refusal(path, "EINVAL", "changed while it was digested: digest again"),
    );
  });
});

/** Until the test is over. */
async function changing(path: string, change: string): Promise<void> {
  const code = `
    const { appendFileSync, truncateSync } = require("node:fs");
    const path = ${JSON.stringify(path)};
    for (let count = 0; ; count++) {
      if (count === 1) require("node:worker_threads").parentPort.postMessage("ready");
      ${change};
    }
  `;
  const worker = new Worker(code, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  await new Promise((resolve) => worker.once("message", resolve));
}
