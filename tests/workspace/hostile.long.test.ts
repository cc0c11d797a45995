import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { WorkspaceSecurityError } from "weakincentives/files";
import { temporaryTree } from "../support/temporary-tree.ts";
import { type BentStage, bentStage } from "../support/workspace/bent-stage.ts";
import { filesIn, repository } from "../support/workspace/stage.ts";

/** Every file of the container's, and what is in it. */
const TELL = `import json, os
found = {}
for folder, _, names in os.walk("/mnt/data"):
    for name in names:
        path = os.path.join(folder, name)
        found[os.path.relpath(path, "/mnt/data")] = open(path, "rb").read().decode("latin1")
print(json.dumps(found))`;

const telling = [[{ code: TELL }], [{ say: "Done." }]];

/** What the code of the evaluation before saw. */
function told(stage: BentStage): unknown {
  return JSON.parse(stage.printed().at(-1) ?? "");
}

describe("what is mounted", () => {
  it("is without symlinks that lead out of the roots, files and folders", async () => {
    const outside = temporaryTree({ "key.txt": "secret", "more/a.txt": "secret" });
    const folder = repository({ "a.txt": "a" });
    symlinkSync(join(outside, "key.txt"), join(folder, "link.txt"));
    symlinkSync(outside, join(folder, "linked"));
    symlinkSync("/etc/passwd", join(folder, "passwd"));
    const stage = await bentStage(telling);
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    await stage.evaluate(stage.section({ mounts, allowedHostRoots: [folder] }));
    expect(told(stage)).toEqual({ "p/a.txt": "a" });
  });

  it.each(["link.txt", "linked"])(
    "is refused where %s leads out and links are followed, before anything is sent",
    async (name) => {
      const outside = temporaryTree({ "key.txt": "secret", "more/a.txt": "secret" });
      const folder = repository({ "a.txt": "a" });
      symlinkSync(name === "linked" ? outside : join(outside, "key.txt"), join(folder, name));
      const stage = await bentStage(telling);
      const mounts = [{ hostPath: folder, mountPath: "p", followSymlinks: true }];
      const make = () => stage.section({ mounts, allowedHostRoots: [folder] });
      expect(make).toThrow(WorkspaceSecurityError);
      expect(make).toThrow(name);
      expect(stage.requests).toEqual([]);
      const section = stage.section({ mounts, allowedHostRoots: [folder, outside] });
      await stage.evaluate(section);
      const copied =
        name === "linked"
          ? { "p/linked/key.txt": "secret", "p/linked/more/a.txt": "secret" }
          : { "p/link.txt": "secret" };
      expect(told(stage)).toEqual({ "p/a.txt": "a", ...copied });
    },
  );

  it("is refused where it is outside the roots, or where none are given", async () => {
    const folder = repository({ "a.txt": "a" });
    const stage = await bentStage([]);
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const outside = () => stage.section({ mounts, allowedHostRoots: [temporaryTree()] });
    expect(outside).toThrow(WorkspaceSecurityError);
    expect(() => stage.section({ mounts, allowedHostRoots: [] })).toThrow(WorkspaceSecurityError);
    expect(() => stage.section({ mounts, allowedHostRoots: undefined })).toThrow(
      'allowedHostRoots must be given with mounts, for these files leave this machine, got undefined. List the folders that they may come from, or write "any"',
    );
    const { mountPreviews } = stage.section({ mounts, allowedHostRoots: "any" });
    expect(mountPreviews).toMatchObject([{ files: 1 }]);
  });

  it("is without pipes and devices, which are told of, and waits for none of them", async () => {
    const folder = repository({ "a.txt": "a" });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) execFileSync("mknod", [join(folder, "null"), "c", "1", "3"]);
    const stage = await bentStage(telling);
    const section = stage.section({ mounts: [{ hostPath: folder, mountPath: "p" }] });
    expect(section.mountPreviews).toMatchObject([
      { files: 1, withheld: isRoot ? ["null", "pipe"] : ["pipe"] },
    ]);
    await stage.evaluate(section);
    expect(told(stage)).toEqual({ "p/a.txt": "a" });
  });

  it("is refused if it is a device itself", async () => {
    const stage = await bentStage([]);
    const mounts = [{ hostPath: "/dev/null", mountPath: "p" }];
    expect(() => stage.section({ mounts })).toThrow("is neither file nor folder");
  });

  const NAMES = {
    "two\nlines.txt": "newline",
    "caf\u00e9.txt": "composed",
    "cafe\u0301.txt": "decomposed",
    "Readme.md": "one case",
    "README.md": "another",
    "$HOME `id` \"quoted\" 'single' ${x} $$.txt": "shell",
    "```python\nprint(1)\n```": "a block",
    "-rf": "an option",
    " space ": "blank",
    "\ud83d\ude80.txt": "above the plane",
    "\uffee.txt": "below it",
  };

  it("keeps every name, however odd: newlines, twins in Unicode and in case, quotes", async () => {
    const folder = repository(NAMES);
    const stage = await bentStage(telling);
    const section = stage.section({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      syncOnCleanup: true,
    });
    await stage.evaluate(section);
    const inside = Object.fromEntries(Object.entries(NAMES).map(([k, v]) => [`p/${k}`, v]));
    expect(told(stage)).toEqual(inside);
    const { failed, added, changed, deleted } = await section.cleanup();
    expect({ failed, added, changed, deleted }).toEqual({
      ...{ failed: [], added: [], changed: [], deleted: [] },
    });
    expect(filesIn(section.syncedDir ?? "")).toEqual(inside);
  });

  it("names odd files in the prompt as they are, each on the line of its mount", async () => {
    const folder = repository(NAMES);
    const stage = await bentStage([[{ say: "Done." }]]);
    await stage.evaluate(stage.section({ mounts: [{ hostPath: folder, mountPath: "p" }] }));
    const last = stage.seen.filter(({ path }) => path === "/responses").at(-1);
    const [system] = Object(last?.body["input"]);
    const line = String(system.content)
      .split("\n")
      .find((text) => text.startsWith('- "p"'));
    const shown = Object.keys(NAMES)
      .sort()
      .slice(0, 10)
      .map((name) => JSON.stringify(name));
    expect(line).toBe(`- "p": 11 files, 89 bytes: ${shown.join(", ")}, … and 1 more`);
  });

  it("is refused ten levels over the limit, unless that is excluded", async () => {
    const deep = Array.from({ length: 73 }, (_, level) => `d${level}`).join("/");
    const folder = repository({ [`${deep}/a.txt`]: "a", "b.txt": "b" });
    const stage = await bentStage(telling);
    const mount = { hostPath: folder, mountPath: "." };
    expect(() => stage.section({ mounts: [mount] })).toThrow("at most 64 are allowed");
    expect(stage.requests).toEqual([]);
    const section = stage.section({ mounts: [{ ...mount, excludeGlob: ["d0/**"] }] });
    await stage.evaluate(section);
    expect(told(stage)).toEqual({ "b.txt": "b" });
  });

  it("is refused if it has changed between the plan and the copy, and nothing is sent", async () => {
    const folder = repository({ "a.txt": "a", "b.txt": "b" });
    const stage = await bentStage(telling);
    const section = stage.section({ mounts: [{ hostPath: folder, mountPath: "p" }] });
    appendFileSync(join(folder, "b.txt"), "more");
    const says = "has changed since it was planned: plan the mounts again when it is left alone";
    await expect(stage.evaluate(section)).rejects.toThrow(says);
    await expect(section.ready()).rejects.toMatchObject({ code: "EINVAL" });
    expect([stage.requests, existsSync(section.tempDir)]).toEqual([[], false]);
  });

  it("is refused if it changes while it is copied", async () => {
    const folder = repository({ "big.bin": "" });
    const big = join(folder, "big.bin");
    truncateSync(big, 512 * 2 ** 20);
    const stage = await bentStage([]);
    const section = stage.section({ mounts: [{ hostPath: folder, mountPath: "p" }] });
    const failing = expect(section.ready()).rejects.toThrow("has changed since it was planned");
    const copy = join(section.tempDir, "p/big.bin");
    while (!existsSync(copy)) await nextTurn();
    expect(statSync(copy).size).toBeLessThan(512 * 2 ** 20);
    appendFileSync(big, "more");
    await failing;
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });

  it("is whole in the container, old or new, if the copy changes while it is packed", async () => {
    const [old, young] = ["a", "b"].map((letter) => letter.repeat(2 ** 24));
    const folder = repository({ "big.txt": old ?? "" });
    const code = `import hashlib
print(hashlib.sha256(open("/mnt/data/p/big.txt", "rb").read()).hexdigest())`;
    const stage = await bentStage([[{ code }], [{ say: "Done." }]]);
    const section = stage.section({ mounts: [{ hostPath: folder, mountPath: "p" }] });
    await section.ready();
    const packing = stage.evaluate(section).then(
      () => "done",
      (error: unknown) => String(error),
    );
    while (!existsSync(join(dirname(section.tempDir), "stage-1"))) await nextTurn();
    writeFileSync(join(section.tempDir, "p/big.txt"), young ?? "");
    const outcome = await packing;
    if (outcome !== "done") return expect(outcome).toContain("big.txt");
    const { createHash } = await import("node:crypto");
    const wholes = [old, young].map((text) =>
      createHash("sha256")
        .update(text ?? "")
        .digest("hex"),
    );
    expect(wholes).toContain(stage.printed().at(0)?.trim());
  });

  it("is without key files, which are told of, but for those that allowSecrets names", async () => {
    const folder = repository({ ".env": "A=1", id_rsa: "key", "keys/a.pem": "pem", "b.py": "b" });
    const stage = await bentStage([...telling, ...telling]);
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const none = stage.section({ mounts });
    expect(none.mountPreviews[0]?.withheld).toEqual([".env", "id_rsa", "keys/a.pem"]);
    await stage.evaluate(none);
    expect(told(stage)).toEqual({ "p/b.py": "b" });
    const some = stage.section({ mounts, allowSecrets: [".env", "keys/*.pem"] });
    expect(some.mountPreviews[0]?.withheld).toEqual(["id_rsa"]);
    await stage.evaluate(some);
    expect(told(stage)).toEqual({ "p/.env": "A=1", "p/b.py": "b", "p/keys/a.pem": "pem" });
  });

  it("may be empty files and programs, which are both as they were there and back", async () => {
    const folder = repository({
      "empty.txt": "",
      "run.sh": "#!/bin/sh\necho yes\n",
      "plain.txt": "x",
    });
    chmodSync(join(folder, "run.sh"), 0o755);
    mkdirSync(join(folder, "hollow"));
    const code = `import os, subprocess
os.chdir("/mnt/data/p")
print(os.path.getsize("empty.txt"), os.access("plain.txt", os.X_OK), os.listdir("hollow"))
print(subprocess.run(["./run.sh"], capture_output=True, text=True).stdout)
open("run.sh", "a").write("echo more\\n")
open("new.sh", "w").write("#!/bin/sh\\n")
os.chmod("new.sh", 0o755)
open("new.txt", "w").close()`;
    const stage = await bentStage([[{ code }], [{ say: "Done." }]]);
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const section = stage.section({ mounts, syncOnCleanup: true });
    await stage.evaluate(section);
    expect(stage.printed()).toEqual(["0 False []\nyes\n\n"]);
    const report = await section.cleanup();
    expect(report).toMatchObject({
      added: ["p/new.sh", "p/new.txt"],
      changed: ["p/run.sh"],
      failed: [],
    });
    const at = (path: string) => join(section.syncedDir ?? "", "p", path);
    const isProgram = (path: string) => (statSync(at(path)).mode & 0o100) !== 0;
    const programs = ["run.sh", "new.sh", "empty.txt", "plain.txt", "new.txt"].filter(isProgram);
    expect(programs).toEqual(["run.sh", "new.sh"]);
    expect(readFileSync(at("run.sh"), "utf8")).toBe("#!/bin/sh\necho yes\necho more\n");
  });
});
