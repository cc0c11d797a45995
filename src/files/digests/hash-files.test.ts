import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { runAsPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { writeTar } from "../archive/tar/write-tar.ts";
import { hashFiles } from "./hash-files.ts";

const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const matchError = (path: string, code: string, problem: string) =>
  expect.objectContaining({
    name: "FilesystemError",
    code,
    path,
    message: expect.stringContaining(problem),
  });

describe("hashFiles()", () => {
  test("hashes small and large files by path", () => {
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

  test("returns files in the order of the folder's tar", () => {
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

describe("hashFiles() rejects", () => {
  test("a missing folder and a file", () => {
    const folder = temporaryTree({ file: "1" });
    expect(() => hashFiles(join(folder, "gone"))).toThrow(
      matchError(`${join(folder, "gone")}/`, "ENOENT", "then hash the folder again"),
    );
    expect(() => hashFiles(join(folder, "file"))).toThrow(
      matchError(`${join(folder, "file")}/`, "ENOTDIR", "then hash the folder again"),
    );
  });

  test.each(["symlink", "pipe"])("a %s", (kind) => {
    const folder = temporaryTree({ a: "1" });
    const odd = join(folder, "odd");
    if (kind === "symlink") symlinkSync(join(folder, "a"), odd);
    else execFileSync("mkfifo", [odd]);
    expect(() => hashFiles(folder)).toThrow(
      matchError(
        odd,
        "EINVAL",
        "is neither a file nor a folder. Remove it, then hash the folder again.",
      ),
    );
  });

  test("a file that this user may not read", async () => {
    const folder = temporaryTree({ a: "1" });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "a"), 0o000);
    await runAsPlainUser(() => {
      expect(() => hashFiles(folder)).toThrow(
        matchError(
          join(folder, "a"),
          "EACCES",
          "Make it readable or remove it, then hash the folder again",
        ),
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
    await startChanging(path, change);
    expect(() => hashFiles(folder)).toThrow(
      matchError(path, "EINVAL", "changed while it was hashed. Hash it again"),
    );
  });
});

/** Changes a file in a thread until the test ends. */
async function startChanging(path: string, change: string): Promise<void> {
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
