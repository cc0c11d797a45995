import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runAsPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { digestFolder } from "./folder-digest.ts";

const digest = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");
const NOBODY = 65_534;

describe("digestFolder()", () => {
  test("returns the digest of every file in path order", () => {
    const large = Buffer.alloc(2_500_000, "x");
    const folder = temporaryTree({ "b/c": "2", "a.txt": "", "b.txt": "1", "b/a": large, e: null });
    const { files, failed } = digestFolder(folder);
    expect([...files].map(([path, { digest }]) => [path, digest])).toEqual([
      ["a.txt", digest("")],
      ["b.txt", digest("1")],
      ["b/a", digest(large)],
      ["b/c", digest("2")],
    ]);
    expect(failed).toEqual([]);
  });

  test("returns the size and permission bits of files, and the folders, also empty ones", () => {
    const folder = temporaryTree({ "b/run": "12", "b/plain": "", "e/f": null });
    chmodSync(join(folder, "b/run"), 0o4750);
    chmodSync(join(folder, "b/plain"), 0o600);
    chmodSync(join(folder, "e"), 0o1700);
    chmodSync(join(folder, "e/f"), 0o755);
    chmodSync(join(folder, "b"), 0o755);
    const { files, folders } = digestFolder(folder);
    expect(files.get("b/run")).toEqual({ digest: digest("12"), bytes: 2, mode: 0o750 });
    expect(files.get("b/plain")).toEqual({ digest: digest(""), bytes: 0, mode: 0o600 });
    expect(Object.fromEntries(folders)).toEqual({ b: 0o755, e: 0o700, "e/f": 0o755 });
  });

  test("does not follow symlinks and reports each one", () => {
    const folder = temporaryTree({ a: "1" });
    const outside = temporaryTree({ secret: "s" });
    symlinkSync(outside, join(folder, "folder"));
    symlinkSync(join(outside, "secret"), join(folder, "file"));
    symlinkSync("a", join(folder, "inside"));
    symlinkSync("nowhere", join(folder, "broken"));
    const { files, failed } = digestFolder(folder);
    expect([...files.keys()]).toEqual(["a"]);
    const reason = "is a symlink, and only files and folders are synced";
    expect(failed).toEqual(
      ["broken", "file", "folder", "inside"].map((path) => ({ path, reason })),
    );
  });

  test("does not block on a pipe", () => {
    const folder = temporaryTree({ a: "1" });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const { files, failed } = digestFolder(folder);
    expect([...files.keys()]).toEqual(["a"]);
    expect(failed).toEqual([{ path: "pipe", reason: "is neither file nor folder" }]);
  });

  test("continues after unreadable files and folders", async () => {
    const folder = temporaryTree({ a: "1", b: "2", "c/d": "3", e: "4" });
    chmodSync(join(folder, "b"), 0o000);
    chmodSync(join(folder, "c"), 0o000);
    if (process.geteuid?.() === 0) {
      for (const path of ["", "a", "b", "c", "e"]) chownSync(join(folder, path), NOBODY, NOBODY);
    }
    const { files, failed } = await runAsPlainUser(() => digestFolder(folder));
    expect([...files.keys()]).toEqual(["a", "e"]);
    const reason = "cannot be read: EACCES: permission denied";
    expect(failed).toEqual(["b", "c"].map((path) => ({ path, reason })));
    chmodSync(join(folder, "c"), 0o700);
  });

  test("reports a folder that is nested too deeply and does not enter it", () => {
    const folder = temporaryTree({ a: "1" });
    const deep = "d/".repeat(66);
    mkdirSync(join(folder, deep), { recursive: true });
    writeFileSync(join(folder, deep, "x"), "");
    const { files, failed } = digestFolder(folder);
    expect([...files.keys()]).toEqual(["a"]);
    expect(failed).toEqual([
      { path: "d/".repeat(65).slice(0, -1), reason: "has a name that cannot be used as a path" },
    ]);
  });

  test.runIf(process.platform === "linux")("reports a name that is not UTF-8", () => {
    const folder = temporaryTree({ a: "1" });
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]), "x");
    const { files, failed } = digestFolder(folder);
    expect([...files.keys()]).toEqual(["a"]);
    expect(failed).toMatchObject([{ path: "\uFFFD" }]);
    expect(failed[0]?.reason).toMatch(/^cannot be read: ENOENT/);
  });

  test("reports a missing folder and a folder that became a symlink", () => {
    const folder = temporaryTree({ "x/a": "1" });
    expect(digestFolder(join(folder, "y"))).toEqual({
      ...{ files: new Map(), folders: new Map() },
      failed: [{ path: ".", reason: "cannot be read: ENOENT: no such file or directory" }],
    });
    symlinkSync(join(folder, "x"), join(folder, "link"));
    expect(digestFolder(join(folder, "link"))).toEqual({
      ...{ files: new Map(), folders: new Map() },
      failed: [{ path: ".", reason: "is no longer a folder" }],
    });
  });

  test("continues while another process writes and removes files", async () => {
    const folder = temporaryTree({ "still/a": "1" });
    const { promise: isWriting, resolve } = Promise.withResolvers<void>();
    const busy = spawn("sh", [
      "-c",
      'cd "$0"; i=0; while :; do i=$((i+1)); echo $i >> log; : > t$((i%50)); rm -f t$(((i+25)%50)); [ $i = 50 ] && echo go; done',
      folder,
    ]);
    onTestFinished(async () => {
      const over = new Promise((done) => busy.once("exit", done));
      busy.kill("SIGKILL");
      await over;
    });
    busy.stdout.once("data", () => resolve());
    await isWriting;
    for (let round = 0; round < 50; round++) {
      const { files, failed } = digestFolder(folder);
      expect(failed).toEqual([]);
      expect(files.get("still/a")?.digest).toBe(digest("1"));
      expect(files.has("log")).toBe(true);
    }
  });
});
