import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OpenAIContainerWorkspaceSectionOptions, SyncReport } from "weakincentives/openai";
import { createInterceptionFixture } from "../support/workspace/interception-fixture.ts";
import {
  createRepository,
  hasBubblewrap,
  readFiles,
} from "../support/workspace/workspace-fixture.ts";

interface CodeResult {
  readonly report: SyncReport;
  /** The synced files. */
  readonly files: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly printed: string;
}

const MOUNTED = { "a.txt": "one\n", "d/b.txt": "two\n", "d/c.txt": "three\n" };

/** Runs code in `/mnt/data/p` on the mounted files, and syncs the result. */
async function runAndSync(
  code: string,
  options: Partial<OpenAIContainerWorkspaceSectionOptions> = {},
): Promise<CodeResult> {
  const folder = createRepository(MOUNTED);
  const whole = `import os\nos.chdir("/mnt/data/p")\n${code}`;
  const fixture = await createInterceptionFixture([[{ code: whole }], [{ say: "Done." }]]);
  const section = fixture.createSection({
    mounts: [{ hostPath: folder, mountPath: "p" }],
    syncOnCleanup: true,
    ...options,
  });
  await fixture.evaluate(section);
  expect(fixture.bus.of("ToolInvoked")).toMatchObject([{ result: { success: true } }]);
  const report = await section.cleanup();
  const directory = section.syncedDir ?? "";
  return {
    report,
    files: readFiles(directory),
    directory,
    printed: fixture.readOutputs().join(""),
  };
}

const unchanged = {
  "p/a.txt": "one\n",
  "p/d/b.txt": "two\n",
  "p/d/c.txt": "three\n",
};

describe("syncing files that code left in the container", () => {
  it("omits and reports symlinks", async () => {
    const { report, files, directory } = await runAndSync(`
os.symlink("/etc/passwd", "passwd")
os.symlink("../../../../etc", "etc")
os.symlink("a.txt", "inside")
os.symlink("nowhere", "broken")
os.symlink(".", "loop")
os.remove("d/c.txt")
os.symlink("/etc/hostname", "d/c.txt")`);
    expect(files).toEqual(unchanged);
    expect(lstatSync(join(directory, "p/d/c.txt")).isFile()).toBe(true);
    expect(report.failed.map(({ path }) => path).sort()).toEqual(
      ["broken", "d/c.txt", "etc", "inside", "loop", "passwd"].map((name) => `p/${name}`),
    );
    expect(new Set(report.failed.map(({ reason }) => reason))).toEqual(
      new Set(["is a symlink, and only files and folders are synced"]),
    );
    expect(report).toMatchObject({ added: [], changed: [], deleted: [] });
  });

  it("omits and reports pipes and sockets without blocking", async () => {
    const { report, files } = await runAndSync(`
import socket
os.mkfifo("pipe")
listener = socket.socket(socket.AF_UNIX)
listener.bind("socket")`);
    expect(files).toEqual(unchanged);
    const reason = "is neither file nor folder";
    expect([...report.failed].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: "p/pipe", reason },
      { path: "p/socket", reason },
    ]);
  });

  it("reports files with invalid names and syncs all others", async () => {
    const { report, files } = await runAndSync(`
open("two\\nlines.txt", "w").write("x")
open("back\\\\slash", "w").write("x")
open(b"not-utf8-\\xff", "w").write("x")
os.makedirs(b"folder-\\xff")
open(b"folder-\\xff/in", "w").write("x")
open("caf\\u00e9", "w").write("x")
open("cafe\\u0301", "w").write("y")
open("A.txt", "w").write("z")
deep = "/".join(["x"] * 70)
os.makedirs(deep)
open(deep + "/f", "w").write("x")`);
    expect(files).toEqual({
      ...unchanged,
      "p/caf\u00e9": "x",
      "p/cafe\u0301": "y",
      "p/A.txt": "z",
    });
    const deep = `p/${"x/".repeat(70)}f`;
    const paths = ["two\nlines.txt", "back\\slash", "not-utf8-\\xff", "folder-\\xff/in"];
    expect(report.failed.map(({ path }) => path).sort()).toEqual(
      [...paths.map((path) => `p/${path}`), deep].sort(),
    );
    const [first] = report.failed;
    expect(first?.reason).toBe("has a name that cannot be used as a path");
  });

  it("syncs a mounted file whose name has a newline", async () => {
    const folder = createRepository({ "two\nlines.txt": "old", "b.txt": "b" });
    const { report, files } = await runAndSync(`open("two\\nlines.txt", "w").write("new")`, {
      mounts: [{ hostPath: folder, mountPath: "p" }],
    });
    expect(files).toEqual({ "p/two\nlines.txt": "new", "p/b.txt": "b" });
    expect(report).toMatchObject({ changed: ["p/two\nlines.txt"], failed: [] });
  });

  it("syncs ten thousand small files", async () => {
    const { report, files } = await runAndSync(`
os.mkdir("many")
for each in range(10_000):
    with open(f"many/{each}", "w") as file:
        file.write(str(each))`);
    expect(report.added).toHaveLength(10_000);
    expect(report.failed).toEqual([]);
    expect(files["p/many/9999"]).toBe("9999");
    expect(Object.keys(files)).toHaveLength(10_003);
  });

  it("reports a huge sparse file without fetching it", async () => {
    const { report, files } = await runAndSync(`
with open("huge.bin", "wb") as file:
    file.truncate(600 << 20)
with open("a.txt", "wb") as file:
    file.truncate(600 << 20)
open("small.txt", "w").write("x")`);
    expect(files).toEqual({ ...unchanged, "p/small.txt": "x" });
    expect(report.failed.map(({ path }) => path).sort()).toEqual(["p/a.txt", "p/huge.bin"]);
    expect(report.failed[0]?.reason).toBe("is larger than 536870912 bytes");
  });

  it("syncs a folder that replaced a file, and a file that replaced a folder", async () => {
    const { report, files, directory } = await runAndSync(`
import shutil
os.remove("a.txt")
os.makedirs("a.txt/deep")
open("a.txt/deep/x", "w").write("x")
shutil.rmtree("d")
open("d", "w").write("file")
os.mkdir("empty")`);
    expect(files).toEqual({ "p/a.txt/deep/x": "x", "p/d": "file" });
    expect(report).toMatchObject({
      added: ["p/a.txt/deep/x", "p/d"],
      deleted: ["p/a.txt", "p/d/b.txt", "p/d/c.txt"],
      failed: [],
    });
    expect(existsSync(join(directory, "p/a.txt/deep/x"))).toBe(true);
  });

  it("syncs hard links as separate files", async () => {
    const { report, files } = await runAndSync(`
open("first", "w").write("same")
os.link("first", "second")
os.link("a.txt", "third")`);
    expect(report).toMatchObject({ added: ["p/first", "p/second", "p/third"], failed: [] });
    expect(files).toEqual({
      ...unchanged,
      ...{ "p/first": "same", "p/second": "same", "p/third": "one\n" },
    });
  });

  it("reports unreadable files and folders and leaves the mounted ones unchanged", async () => {
    const { report, files, printed } = await runAndSync(`
open("secret", "w").write("x")
open("a.txt", "a").write("more")
for path in ["secret", "a.txt", "d"]:
    os.chmod(path, 0)
try:
    print(open("secret").read())
except OSError:
    print("unreadable")`);
    if (printed !== "unreadable\n") return expect(report.failed).toEqual([]); // root can read every file
    expect(files).toEqual(unchanged);
    expect(report.deleted).toEqual([]);
    expect(report.failed.map(({ path }) => path).sort()).toEqual(["p/a.txt", "p/d", "p/secret"]);
  });

  it("reports failures on cleanup even if files were fetched after each turn", async () => {
    const { report } = await runAndSync(`os.mkfifo("pipe")`, { syncPolicy: "eachTurn" });
    expect(report.failed).toEqual([{ path: "p/pipe", reason: "is neither file nor folder" }]);
  });

  it("syncs to a folder of the user and retains its other files", async () => {
    const to = createRepository({
      "mine.txt": "mine",
      "p/a.txt": "older",
      "p/mine.txt": "mine too",
    });
    const { files, report } = await runAndSync(`os.remove("d/b.txt")`, { syncDestination: to });
    expect(report).toMatchObject({ directory: to, deleted: ["p/d/b.txt"], failed: [] });
    expect(files).toEqual({
      ...{ "mine.txt": "mine", "p/mine.txt": "mine too" },
      ...{ "p/a.txt": "one\n", "p/d/c.txt": "three\n" },
    });
    expect(readdirSync(to).sort()).toEqual(["mine.txt", "p"]);
    expect(readFileSync(join(to, "p/a.txt"), "utf8")).toBe("one\n");
  });
});

describe.skipIf(!hasBubblewrap)('syncing files that code left with unpack "files"', () => {
  it("syncs the files that the provider lists, without symlinks and pipes", async () => {
    const folder = createRepository({ "a.txt": "one\n" });
    const code = `import glob, json, os
at = json.load(open(glob.glob("/mnt/data/*-paths.json")[0]))["p/a.txt"]
open(at, "a").write("two\\n")
os.chdir("/mnt/data")
os.symlink("/etc/passwd", "passwd")
os.mkfifo("pipe")
os.makedirs("out")
open("out/two\\nlines", "w").write("x")
open("out/result.txt", "w").write("42") and None`;
    const fixture = await createInterceptionFixture([[{ code }], [{ say: "Done." }]]);
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const section = fixture.createSection({ mounts, unpack: "files", syncOnCleanup: true });
    await fixture.evaluate(section);
    const report = await section.cleanup();
    expect(report).toMatchObject({ changed: ["p/a.txt"], failed: [] });
    expect(readFiles(section.syncedDir ?? "")).toEqual({
      "p/a.txt": "one\ntwo\n",
      "out/result.txt": "42",
      "out/two\nlines": "x",
    });
  });
});
