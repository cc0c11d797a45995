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
import {
  createInterceptionFixture,
  type InterceptionFixture,
} from "../support/workspace/interception-fixture.ts";
import { createRepository, readFiles } from "../support/workspace/workspace-fixture.ts";

/** Python that prints every file of the container with its content. */
const LIST_FILES_CODE = `import json, os
found = {}
for folder, _, names in os.walk("/mnt/data"):
    for name in names:
        path = os.path.join(folder, name)
        found[os.path.relpath(path, "/mnt/data")] = open(path, "rb").read().decode("latin1")
print(json.dumps(found))`;

const listScript = [[{ code: LIST_FILES_CODE }], [{ say: "Done." }]];

/** Returns the files that the code of the last evaluation printed. */
function readContainerFiles(fixture: InterceptionFixture): unknown {
  return JSON.parse(fixture.readOutputs().at(-1) ?? "");
}

describe("mounting a hostile folder", () => {
  it("omits symlinks that lead out of the roots", async () => {
    const outside = temporaryTree({ "key.txt": "secret", "more/a.txt": "secret" });
    const folder = createRepository({ "a.txt": "a" });
    symlinkSync(join(outside, "key.txt"), join(folder, "link.txt"));
    symlinkSync(outside, join(folder, "linked"));
    symlinkSync("/etc/passwd", join(folder, "passwd"));
    const fixture = await createInterceptionFixture(listScript);
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    await fixture.evaluate(fixture.createSection({ mounts, allowedHostRoots: [folder] }));
    expect(readContainerFiles(fixture)).toEqual({ "p/a.txt": "a" });
  });

  it.each(["link.txt", "linked"])(
    "is rejected before any request if %s leads out and symlinks are followed",
    async (name) => {
      const outside = temporaryTree({ "key.txt": "secret", "more/a.txt": "secret" });
      const folder = createRepository({ "a.txt": "a" });
      symlinkSync(name === "linked" ? outside : join(outside, "key.txt"), join(folder, name));
      const fixture = await createInterceptionFixture(listScript);
      const mounts = [{ hostPath: folder, mountPath: "p", followSymlinks: true }];
      const make = () => fixture.createSection({ mounts, allowedHostRoots: [folder] });
      expect(make).toThrow(WorkspaceSecurityError);
      expect(make).toThrow(name);
      expect(fixture.requests).toEqual([]);
      const section = fixture.createSection({ mounts, allowedHostRoots: [folder, outside] });
      await fixture.evaluate(section);
      const copied =
        name === "linked"
          ? { "p/linked/key.txt": "secret", "p/linked/more/a.txt": "secret" }
          : { "p/link.txt": "secret" };
      expect(readContainerFiles(fixture)).toEqual({ "p/a.txt": "a", ...copied });
    },
  );

  it("is rejected if it is outside the roots or no roots are set", async () => {
    const folder = createRepository({ "a.txt": "a" });
    const fixture = await createInterceptionFixture([]);
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const outside = () => fixture.createSection({ mounts, allowedHostRoots: [temporaryTree()] });
    expect(outside).toThrow(WorkspaceSecurityError);
    expect(() => fixture.createSection({ mounts, allowedHostRoots: [] })).toThrow(
      WorkspaceSecurityError,
    );
    expect(() => fixture.createSection({ mounts, allowedHostRoots: undefined })).toThrow(
      'allowedHostRoots must be provided with mounts, because these files are uploaded, got undefined. List the folders that mounts may come from, or pass "any"',
    );
    const { mountPreviews } = fixture.createSection({ mounts, allowedHostRoots: "any" });
    expect(mountPreviews).toMatchObject([{ files: 1 }]);
  });

  it("omits and reports pipes and devices without blocking", async () => {
    const folder = createRepository({ "a.txt": "a" });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) execFileSync("mknod", [join(folder, "null"), "c", "1", "3"]);
    const fixture = await createInterceptionFixture(listScript);
    const section = fixture.createSection({ mounts: [{ hostPath: folder, mountPath: "p" }] });
    expect(section.mountPreviews).toMatchObject([
      { files: 1, withheld: isRoot ? ["null", "pipe"] : ["pipe"] },
    ]);
    await fixture.evaluate(section);
    expect(readContainerFiles(fixture)).toEqual({ "p/a.txt": "a" });
  });

  it("is rejected if the host path is a device", async () => {
    const fixture = await createInterceptionFixture([]);
    const mounts = [{ hostPath: "/dev/null", mountPath: "p" }];
    expect(() => fixture.createSection({ mounts })).toThrow("is neither a file nor a folder");
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

  it("preserves unusual names: newlines, Unicode and case variants, quotes", async () => {
    const folder = createRepository(NAMES);
    const fixture = await createInterceptionFixture(listScript);
    const section = fixture.createSection({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      syncOnCleanup: true,
    });
    await fixture.evaluate(section);
    const inside = Object.fromEntries(Object.entries(NAMES).map(([k, v]) => [`p/${k}`, v]));
    expect(readContainerFiles(fixture)).toEqual(inside);
    const { failed, added, changed, deleted } = await section.cleanup();
    expect({ failed, added, changed, deleted }).toEqual({
      ...{ failed: [], added: [], changed: [], deleted: [] },
    });
    expect(readFiles(section.syncedDir ?? "")).toEqual(inside);
  });

  it("quotes unusual names in the prompt on one line per mount", async () => {
    const folder = createRepository(NAMES);
    const fixture = await createInterceptionFixture([[{ say: "Done." }]]);
    await fixture.evaluate(
      fixture.createSection({ mounts: [{ hostPath: folder, mountPath: "p" }] }),
    );
    const last = fixture.seenRequests.filter(({ path }) => path === "/responses").at(-1);
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

  it("is rejected ten levels over the limit, unless the folder is excluded", async () => {
    const deep = Array.from({ length: 73 }, (_, level) => `d${level}`).join("/");
    const folder = createRepository({ [`${deep}/a.txt`]: "a", "b.txt": "b" });
    const fixture = await createInterceptionFixture(listScript);
    const mount = { hostPath: folder, mountPath: "." };
    expect(() => fixture.createSection({ mounts: [mount] })).toThrow(
      "levels deep. The maximum is 64.",
    );
    expect(fixture.requests).toEqual([]);
    const section = fixture.createSection({ mounts: [{ ...mount, excludeGlob: ["d0/**"] }] });
    await fixture.evaluate(section);
    expect(readContainerFiles(fixture)).toEqual({ "b.txt": "b" });
  });

  it("is rejected before any request if a file changed between plan and copy", async () => {
    const folder = createRepository({ "a.txt": "a", "b.txt": "b" });
    const fixture = await createInterceptionFixture(listScript);
    const section = fixture.createSection({ mounts: [{ hostPath: folder, mountPath: "p" }] });
    appendFileSync(join(folder, "b.txt"), "more");
    const message =
      "has changed since the mounts were checked. Create the workspace section or the plan again while nothing writes to it.";
    await expect(fixture.evaluate(section)).rejects.toThrow(message);
    await expect(section.ready()).rejects.toMatchObject({ code: "EINVAL" });
    expect([fixture.requests, existsSync(section.tempDir)]).toEqual([[], false]);
  });

  it("is rejected if a file changes while it is copied", async () => {
    const folder = createRepository({ "big.bin": "" });
    const big = join(folder, "big.bin");
    truncateSync(big, 500 * 2 ** 20);
    const fixture = await createInterceptionFixture([]);
    const section = fixture.createSection({ mounts: [{ hostPath: folder, mountPath: "p" }] });
    const failing = expect(section.ready()).rejects.toThrow(
      "has changed since the mounts were checked",
    );
    const copy = join(section.tempDir, "p/big.bin");
    while (!existsSync(copy)) await nextTurn();
    expect(statSync(copy).size).toBeLessThan(500 * 2 ** 20);
    appendFileSync(big, "more");
    await failing;
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });

  it("uploads a complete old or new file if the copy changes while it is packed", async () => {
    const [old, young] = ["a", "b"].map((letter) => letter.repeat(2 ** 24));
    const folder = createRepository({ "big.txt": old ?? "" });
    const code = `import hashlib
print(hashlib.sha256(open("/mnt/data/p/big.txt", "rb").read()).hexdigest())`;
    const fixture = await createInterceptionFixture([[{ code }], [{ say: "Done." }]]);
    const section = fixture.createSection({ mounts: [{ hostPath: folder, mountPath: "p" }] });
    await section.ready();
    const packing = fixture.evaluate(section).then(
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
    expect(wholes).toContain(fixture.readOutputs().at(0)?.trim());
  });

  it("omits and reports secret files, except those listed in allowSecrets", async () => {
    const folder = createRepository({
      ".env": "A=1",
      id_rsa: "key",
      "keys/a.pem": "pem",
      "b.py": "b",
    });
    const fixture = await createInterceptionFixture([...listScript, ...listScript]);
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const none = fixture.createSection({ mounts });
    expect(none.mountPreviews[0]?.withheld).toEqual([".env", "id_rsa", "keys/a.pem"]);
    await fixture.evaluate(none);
    expect(readContainerFiles(fixture)).toEqual({ "p/b.py": "b" });
    const some = fixture.createSection({ mounts, allowSecrets: [".env", "keys/*.pem"] });
    expect(some.mountPreviews[0]?.withheld).toEqual(["id_rsa"]);
    await fixture.evaluate(some);
    expect(readContainerFiles(fixture)).toEqual({
      "p/.env": "A=1",
      "p/b.py": "b",
      "p/keys/a.pem": "pem",
    });
  });

  it("preserves empty files and executable bits in both directions", async () => {
    const folder = createRepository({
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
    const fixture = await createInterceptionFixture([[{ code }], [{ say: "Done." }]]);
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const section = fixture.createSection({ mounts, syncOnCleanup: true });
    await fixture.evaluate(section);
    expect(fixture.readOutputs()).toEqual(["0 False []\nyes\n\n"]);
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
