import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { writeNewFile } from "./write-new-file.ts";

async function* yieldPieces(...pieces: readonly (string | Error)[]) {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece;
    yield Buffer.from(piece);
  }
}

test("writes a file at once, and counts its pieces", async () => {
  const path = join(temporaryTree(), "a");
  const written = await writeNewFile(path, yieldPieces("a\n", "bé\n"), { force: false });
  expect(written).toEqual({ count: 2, bytes: 6 });
  expect(readFileSync(path, "utf8")).toBe("a\nbé\n");
});

test("leaves nothing if its pieces fail", async () => {
  const folder = temporaryTree({ b: "old" });
  const failure = new Error("no more");
  for (const force of [true, false]) {
    const writing = writeNewFile(join(folder, "b"), yieldPieces("a", failure), { force });
    await expect(writing).rejects.toBe(failure);
  }
  expect(readdirSync(folder)).toEqual(["b"]);
  expect(readFileSync(join(folder, "b"), "utf8")).toBe("old");
});

test.each(["SIGINT", "SIGTERM"] as const)("leaves nothing after %s", async (signal) => {
  const folder = temporaryTree();
  const module = new URL("./write-new-file.ts", import.meta.url);
  const script = `
    const { writeNewFile } = await import(${JSON.stringify(module)});
    async function* pieces() {
      yield Buffer.from("a");
      console.log("writing");
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    }
    await writeNewFile(process.argv[1], pieces(), { force: false });`;
  const args = ["--input-type=module", "-e", script, join(folder, "a")];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  expect(readdirSync(folder)).toHaveLength(1);
  child.kill(signal);
  expect(await once(child, "exit")).toEqual([130, null]);
  expect(readdirSync(folder)).toEqual([]);
});
