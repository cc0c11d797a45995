import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runAsPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { HostMount } from "./host-mount.ts";
import { planMounts } from "./plan-mounts.ts";

/** Plans a mount at the root of the workspace. */
function createPlan(hostPath: string, mount: Partial<HostMount> = {}, allowSecrets: string[] = []) {
  const allowedHostRoots = [hostPath];
  const mounts = [{ hostPath, mountPath: ".", ...mount }];
  return planMounts(mounts, { allowedHostRoots, allowSecrets });
}

const planPaths = (...given: Parameters<typeof createPlan>) =>
  createPlan(...given).files.map(({ mountPath }) => mountPath);
const planWithheld = (...given: Parameters<typeof createPlan>) =>
  createPlan(...given).previews[0]?.withheld;

describe("globs of planMounts()", () => {
  test("apply to paths within the mount, and excludeGlob takes precedence", () => {
    const folder = temporaryTree({ "a.py": "", "b/a.py": "", "b/test.py": "", "b/c.txt": "" });
    expect(planPaths(folder, { includeGlob: ["*.py"] })).toEqual(["a.py", "b/a.py", "b/test.py"]);
    expect(planPaths(folder, { includeGlob: ["*.py"], excludeGlob: ["b/test.py"] })).toEqual([
      "a.py",
      "b/a.py",
    ]);
    expect(planPaths(folder, { includeGlob: ["b/a.py"], excludeGlob: ["*"] })).toEqual([]);
    expect(planPaths(folder, { includeGlob: [], excludeGlob: ["b/*"] })).toEqual(["a.py"]);
    expect(planPaths(folder, { mountPath: "x", includeGlob: ["x/*"] })).toEqual([]);
  });

  test("apply to the file name of a single-file mount", () => {
    const folder = temporaryTree({ "a.py": "" });
    const at = { hostPath: join(folder, "a.py"), mountPath: "b.txt" };
    expect(planPaths(folder, { ...at, includeGlob: ["*.py"] })).toEqual(["b.txt"]);
    expect(planPaths(folder, { ...at, includeGlob: ["*.txt"] })).toEqual([]);
    expect(planPaths(folder, { ...at, excludeGlob: ["a.py"] })).toEqual([]);
  });

  test("skip folders that are excluded completely", async () => {
    const folder = temporaryTree({ "closed/a": "", b: "" });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "closed"), 0o000);
    const [open, refusal] = await runAsPlainUser(() => [
      planPaths(folder, { excludeGlob: ["closed/*"] }),
      catchError(() => createPlan(folder)),
    ]);
    chmodSync(join(folder, "closed"), 0o700);
    expect(open).toEqual(["b"]);
    expect(refusal).toMatchObject({
      name: "FilesystemError",
      code: "EACCES",
      path: join(folder, "closed/"),
      message: expect.stringContaining('Make it readable, or add "closed/*" to excludeGlob'),
    });
  });
});

test("planMounts() names a file that this user may not access", async () => {
  const folder = temporaryTree({ "listed/a": "" });
  chmodSync(folder, 0o755);
  chmodSync(join(folder, "listed"), 0o444);
  const refusal = await runAsPlainUser(() => catchError(() => createPlan(folder)));
  expect(refusal).toMatchObject({
    name: "FilesystemError",
    code: "EACCES",
    path: join(folder, "listed/a"),
  });
});

describe("maxBytes of planMounts()", () => {
  test("accepts exactly as many bytes and rejects one more", () => {
    const folder = temporaryTree({ a: "123", "b/c": "4567", "b/d": "" });
    expect(createPlan(folder, { maxBytes: 7 }).previews[0]?.bytes).toBe(7);
    expect(() => createPlan(folder, { maxBytes: 6 })).toThrow(
      expect.objectContaining({
        name: "WorkspaceBudgetExceededError",
        message: `mounts[0] "${folder}" is over its maxBytes of 6: "b/c" brings it to 7. Raise maxBytes, or exclude files with excludeGlob.`,
      }),
    );
  });

  test("accepts only empty files if it is 0", () => {
    const folder = temporaryTree({ a: "", b: "" });
    expect(createPlan(folder, { maxBytes: 0 }).files).toHaveLength(2);
    writeFileSync(join(folder, "b"), "1");
    expect(() => createPlan(folder, { maxBytes: 0 })).toThrow("over its maxBytes of 0");
  });

  test("applies to each mount and counts only included files", () => {
    const folder = temporaryTree({ "a/x": "12", "b/x": "12", "b/.env": "3", "b/y.log": "4" });
    const mounts = ["a", "b"].map((name) => ({
      hostPath: join(folder, name),
      maxBytes: 2,
      excludeGlob: ["*.log"],
    }));
    expect(planMounts(mounts, { allowedHostRoots: [folder] }).files).toHaveLength(2);
  });

  test("applies to a single file", () => {
    const folder = temporaryTree({ a: "12" });
    const at = { hostPath: join(folder, "a"), mountPath: "a" };
    expect(createPlan(folder, { ...at, maxBytes: 2 }).files).toHaveLength(1);
    expect(() => createPlan(folder, { ...at, maxBytes: 1 })).toThrow('"a" brings it to 2');
  });
});

describe("planMounts() and entries that are neither files nor folders", () => {
  test("omits them and lists them as withheld", async () => {
    const folder = temporaryTree({ a: "", "d/b": "" });
    execFileSync("mkfifo", [join(folder, "d/pipe")]);
    const server = createServer().listen(join(folder, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    expect(planPaths(folder)).toEqual(["a", "d/b"]);
    expect(planWithheld(folder)).toEqual(["d/pipe", "socket"]);
    expect(planWithheld(folder, { excludeGlob: ["*pipe"] })).toEqual(["socket"]);
  });

  test("rejects a device as the host path", () => {
    const options = { allowedHostRoots: ["/dev"] };
    expect(() => planMounts([{ hostPath: "/dev/null" }], options)).toThrow(
      "is neither a file nor a folder. Set mounts[0].hostPath to a file or folder of the host",
    );
  });

  test("accepts unusual names and lists names that are not UTF-8 as withheld", () => {
    const folder = temporaryTree({ "\uFFFD": "", "new\nline": "", " ": "", "back\\slash": "" });
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/bad`), Buffer.from([0xff])]), "");
    mkdirSync(Buffer.concat([Buffer.from(`${folder}/worse`), Buffer.from([0xfe])]));
    expect(planPaths(folder)).toEqual([" ", "back\\slash", "new\nline", "\uFFFD"]);
    expect(planWithheld(folder)).toEqual(["bad\uFFFD", "worse\uFFFD"]);
  });
});

describe("path limits of planMounts()", () => {
  test("allow names of 255 bytes and 64 levels", () => {
    const name = `${"é".repeat(127)}x`;
    const deep = "d/".repeat(63);
    const folder = temporaryTree({ [name]: "1", [`${deep}f`]: "2" });
    expect(planPaths(folder)).toEqual([`${deep}f`, name]);
  });

  test("reject paths that are deeper", () => {
    const folder = temporaryTree({ [`${"d/".repeat(63)}f`]: "" });
    expect(() => createPlan(folder, { mountPath: "in" })).toThrow(
      expect.objectContaining({
        name: "FilesystemError",
        code: "EINVAL",
        message: expect.stringContaining("is 65 levels deep. The maximum is 64."),
      }),
    );
    const folders = temporaryTree({ [`${"d/".repeat(65)}f`]: "" });
    expect(() => createPlan(folders)).toThrow("is 65 levels deep");
  });

  test("reject a single file as the root of the workspace", () => {
    const folder = temporaryTree({ a: "" });
    expect(() => createPlan(folder, { hostPath: join(folder, "a") })).toThrow(
      expect.objectContaining({ name: "FilesystemError", code: "EISDIR" }),
    );
  });
});

describe("planMounts() and secret files", () => {
  const tree = { ".env": "1", ".env.example": "2", "certs/tls.key": "3", ".ssh/config": "4" };

  test("withholds them and lists them", () => {
    const folder = temporaryTree(tree);
    expect(planPaths(folder)).toEqual([".env.example"]);
    expect(planWithheld(folder)).toEqual([".env", ".ssh/config", "certs/tls.key"]);
    expect(createPlan(folder).previews[0]?.bytes).toBe(1);
    expect(createPlan(folder).directories).toEqual([]);
  });

  test("includes secret files listed in allowSecrets", () => {
    const folder = temporaryTree(tree);
    expect(planPaths(folder, {}, [".env", "*.key"])).toEqual([
      ".env",
      ".env.example",
      "certs/tls.key",
    ]);
    expect(planPaths(folder, { mountPath: "in" }, ["in/.env"])).toContain("in/.env");
    expect(planWithheld(folder, {}, [".env", "*.key"])).toEqual([".ssh/config"]);
  });

  test("does not list secret files that a glob excludes", () => {
    const folder = temporaryTree(tree);
    expect(planWithheld(folder, { excludeGlob: [".ssh/*"], includeGlob: ["*/*"] })).toEqual([
      "certs/tls.key",
    ]);
  });

  test("recognizes them by the mounted folder and as single mounts", () => {
    const folder = temporaryTree(tree);
    expect(planWithheld(join(folder, ".ssh"))).toEqual(["config"]);
    const single = { hostPath: join(folder, ".env"), mountPath: "settings" };
    expect(createPlan(folder, single)).toMatchObject({
      files: [],
      previews: [{ withheld: [".env"] }],
    });
    expect(planPaths(folder, single, ["settings"])).toEqual(["settings"]);
  });

  test("recognizes them by the symlink's name or the target's name", () => {
    const folder = temporaryTree({ ".env": "1", "keys/a": "2", plain: "3" });
    symlinkSync(".env", join(folder, "innocent"));
    symlinkSync("plain", join(folder, "tls.pem"));
    symlinkSync("keys", join(folder, ".ssh"));
    const followSymlinks = true;
    expect(planPaths(folder, { followSymlinks })).toEqual(["keys/a", "plain"]);
    expect(planWithheld(folder, { followSymlinks })).toEqual([
      ".env",
      ".ssh/a",
      "innocent",
      "tls.pem",
    ]);
    const linked = { hostPath: join(folder, ".ssh"), followSymlinks };
    expect(planWithheld(folder, linked)).toEqual(["a"]);
  });
});

function catchError(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
