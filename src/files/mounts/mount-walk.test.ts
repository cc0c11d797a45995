import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { asPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { HostMount } from "./host-mount.ts";
import { planMounts } from "./mount-plan.ts";

/** Mounts a folder at the root of the workspace. */
function plan(hostPath: string, mount: Partial<HostMount> = {}, allowSecrets: string[] = []) {
  const allowedHostRoots = [hostPath];
  const mounts = [{ hostPath, mountPath: ".", ...mount }];
  return planMounts(mounts, { allowedHostRoots, allowSecrets });
}

const paths = (...given: Parameters<typeof plan>) =>
  plan(...given).files.map(({ mountPath }) => mountPath);
const withheld = (...given: Parameters<typeof plan>) => plan(...given).previews[0]?.withheld;

describe("globs", () => {
  test("apply to the path within the mount, and what is excluded is out", () => {
    const folder = temporaryTree({ "a.py": "", "b/a.py": "", "b/test.py": "", "b/c.txt": "" });
    expect(paths(folder, { includeGlob: ["*.py"] })).toEqual(["a.py", "b/a.py", "b/test.py"]);
    expect(paths(folder, { includeGlob: ["*.py"], excludeGlob: ["b/test.py"] })).toEqual([
      "a.py",
      "b/a.py",
    ]);
    expect(paths(folder, { includeGlob: ["b/a.py"], excludeGlob: ["*"] })).toEqual([]);
    expect(paths(folder, { includeGlob: [], excludeGlob: ["b/*"] })).toEqual(["a.py"]);
    expect(paths(folder, { mountPath: "x", includeGlob: ["x/*"] })).toEqual([]);
  });

  test("apply to the name of a single file", () => {
    const folder = temporaryTree({ "a.py": "" });
    const at = { hostPath: join(folder, "a.py"), mountPath: "b.txt" };
    expect(paths(folder, { ...at, includeGlob: ["*.py"] })).toEqual(["b.txt"]);
    expect(paths(folder, { ...at, includeGlob: ["*.txt"] })).toEqual([]);
    expect(paths(folder, { ...at, excludeGlob: ["a.py"] })).toEqual([]);
  });

  test("keep the walk out of what is excluded as a whole", async () => {
    const folder = temporaryTree({ "closed/a": "", b: "" });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "closed"), 0o000);
    const [open, refusal] = await asPlainUser(() => [
      paths(folder, { excludeGlob: ["closed/*"] }),
      attempt(() => plan(folder)),
    ]);
    chmodSync(join(folder, "closed"), 0o700);
    expect(open).toEqual(["b"]);
    expect(refusal).toMatchObject({
      name: "FilesystemError",
      code: "EACCES",
      path: join(folder, "closed/"),
      message: expect.stringContaining('name "closed/*" in excludeGlob'),
    });
  });
});

test("a file that may not be looked at is named", async () => {
  const folder = temporaryTree({ "listed/a": "" });
  chmodSync(folder, 0o755);
  chmodSync(join(folder, "listed"), 0o444);
  const refusal = await asPlainUser(() => attempt(() => plan(folder)));
  expect(refusal).toMatchObject({
    name: "FilesystemError",
    code: "EACCES",
    path: join(folder, "listed/a"),
  });
});

describe("a budget", () => {
  test("of exactly as many bytes passes, and one byte less does not", () => {
    const folder = temporaryTree({ a: "123", "b/c": "4567", "b/d": "" });
    expect(plan(folder, { maxBytes: 7 }).previews[0]?.bytes).toBe(7);
    expect(() => plan(folder, { maxBytes: 6 })).toThrow(
      expect.objectContaining({
        name: "WorkspaceBudgetExceededError",
        message: `mounts[0] "${folder}" is over its maxBytes of 6: "b/c" brings it to 7; raise maxBytes, or leave files out by excludeGlob`,
      }),
    );
  });

  test("of 0 lets only empty files in", () => {
    const folder = temporaryTree({ a: "", b: "" });
    expect(plan(folder, { maxBytes: 0 }).files).toHaveLength(2);
    writeFileSync(join(folder, "b"), "1");
    expect(() => plan(folder, { maxBytes: 0 })).toThrow("over its maxBytes of 0");
  });

  test("is each mount's own, and counts only what is taken along", () => {
    const folder = temporaryTree({ "a/x": "12", "b/x": "12", "b/.env": "3", "b/y.log": "4" });
    const mounts = ["a", "b"].map((name) => ({
      hostPath: join(folder, name),
      maxBytes: 2,
      excludeGlob: ["*.log"],
    }));
    expect(planMounts(mounts, { allowedHostRoots: [folder] }).files).toHaveLength(2);
  });

  test("holds for a single file", () => {
    const folder = temporaryTree({ a: "12" });
    const at = { hostPath: join(folder, "a"), mountPath: "a" };
    expect(plan(folder, { ...at, maxBytes: 2 }).files).toHaveLength(1);
    expect(() => plan(folder, { ...at, maxBytes: 1 })).toThrow('"a" brings it to 2');
  });
});

describe("other things than files and folders", () => {
  test("are left out and listed", async () => {
    const folder = temporaryTree({ a: "", "d/b": "" });
    execFileSync("mkfifo", [join(folder, "d/pipe")]);
    const server = createServer().listen(join(folder, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    expect(paths(folder)).toEqual(["a", "d/b"]);
    expect(withheld(folder)).toEqual(["d/pipe", "socket"]);
    expect(withheld(folder, { excludeGlob: ["*pipe"] })).toEqual(["socket"]);
  });

  test("cannot be mounted themselves", () => {
    const options = { allowedHostRoots: ["/dev"] };
    expect(() => planMounts([{ hostPath: "/dev/null" }], options)).toThrow(
      "is neither file nor folder",
    );
  });

  test("are found by the names that they have, and a name that is no text is listed", () => {
    const folder = temporaryTree({ "\uFFFD": "", "new\nline": "", " ": "", "back\\slash": "" });
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/bad`), Buffer.from([0xff])]), "");
    mkdirSync(Buffer.concat([Buffer.from(`${folder}/worse`), Buffer.from([0xfe])]));
    expect(paths(folder)).toEqual([" ", "back\\slash", "new\nline", "\uFFFD"]);
    expect(withheld(folder)).toEqual(["bad\uFFFD", "worse\uFFFD"]);
  });
});

describe("limits", () => {
  test("let names of 255 bytes and 64 levels in", () => {
    const name = `${"é".repeat(127)}x`;
    const deep = "d/".repeat(63);
    const folder = temporaryTree({ [name]: "1", [`${deep}f`]: "2" });
    expect(paths(folder)).toEqual([`${deep}f`, name]);
  });

  test("refuse what is deeper", () => {
    const folder = temporaryTree({ [`${"d/".repeat(63)}f`]: "" });
    expect(() => plan(folder, { mountPath: "in" })).toThrow(
      expect.objectContaining({
        name: "FilesystemError",
        code: "EINVAL",
        message: expect.stringContaining("is 65 levels deep: at most 64 are allowed"),
      }),
    );
    const folders = temporaryTree({ [`${"d/".repeat(65)}f`]: "" });
    expect(() => plan(folders)).toThrow("is 65 levels deep");
  });

  test("do not let a single file be the workspace itself", () => {
    const folder = temporaryTree({ a: "" });
    expect(() => plan(folder, { hostPath: join(folder, "a") })).toThrow(
      expect.objectContaining({ name: "FilesystemError", code: "EISDIR" }),
    );
  });
});

describe("key files", () => {
  const tree = { ".env": "1", ".env.example": "2", "certs/tls.key": "3", ".ssh/config": "4" };

  test("are withheld and listed", () => {
    const folder = temporaryTree(tree);
    expect(paths(folder)).toEqual([".env.example"]);
    expect(withheld(folder)).toEqual([".env", ".ssh/config", "certs/tls.key"]);
    expect(plan(folder).previews[0]?.bytes).toBe(1);
    expect(plan(folder).directories).toEqual([]);
  });

  test("come along if they are named", () => {
    const folder = temporaryTree(tree);
    expect(paths(folder, {}, [".env", "*.key"])).toEqual([".env", ".env.example", "certs/tls.key"]);
    expect(paths(folder, { mountPath: "in" }, ["in/.env"])).toContain("in/.env");
    expect(withheld(folder, {}, [".env", "*.key"])).toEqual([".ssh/config"]);
  });

  test("are none of the preview's business if a glob leaves them out", () => {
    const folder = temporaryTree(tree);
    expect(withheld(folder, { excludeGlob: [".ssh/*"], includeGlob: ["*/*"] })).toEqual([
      "certs/tls.key",
    ]);
  });

  test("are known by the folder that is mounted, and when mounted by themselves", () => {
    const folder = temporaryTree(tree);
    expect(withheld(join(folder, ".ssh"))).toEqual(["config"]);
    const single = { hostPath: join(folder, ".env"), mountPath: "settings" };
    expect(plan(folder, single)).toMatchObject({ files: [], previews: [{ withheld: [".env"] }] });
    expect(paths(folder, single, ["settings"])).toEqual(["settings"]);
  });

  test("are known whichever name of a link tells", () => {
    const folder = temporaryTree({ ".env": "1", "keys/a": "2", plain: "3" });
    symlinkSync(".env", join(folder, "innocent"));
    symlinkSync("plain", join(folder, "tls.pem"));
    symlinkSync("keys", join(folder, ".ssh"));
    const followSymlinks = true;
    expect(paths(folder, { followSymlinks })).toEqual(["keys/a", "plain"]);
    expect(withheld(folder, { followSymlinks })).toEqual([".env", ".ssh/a", "innocent", "tls.pem"]);
    const linked = { hostPath: join(folder, ".ssh"), followSymlinks };
    expect(withheld(folder, linked)).toEqual(["a"]);
  });
});

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
