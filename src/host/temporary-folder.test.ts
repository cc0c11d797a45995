import { execFile } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { asPlainUser, growTree, temporaryTree } from "../../tests/support/temporary-tree.ts";
import { reserveFolder, sweepAbandonedFolders, type TemporaryFolder } from "./temporary-folder.ts";

/** Temporary folders are made in here, for this test. */
function temporaryFolders(): string {
  const folder = temporaryTree();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

async function createdFolder(): Promise<TemporaryFolder> {
  const folder = reserveFolder();
  await folder.create();
  return folder;
}

const ownerOf = ({ home }: TemporaryFolder) =>
  JSON.parse(readFileSync(join(home, "owner.json"), "utf8"));

/** No process has it: Linux gives none above 4194304. */
const NO_PROCESS = 999_999_999;
const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;

const moduleUrl = JSON.stringify(new URL("./temporary-folder.ts", import.meta.url).href);
const SWEEP = `
  const { sweepAbandonedFolders } = await import(${moduleUrl});
  console.log(JSON.stringify(await sweepAbandonedFolders()));
`;

const runNode = (code: string, user: { uid?: number; gid?: number } = {}) =>
  promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], user);

/** A folder as a process that has ended leaves it. */
async function abandonedFolder(owner: object = {}): Promise<TemporaryFolder> {
  const folder = await createdFolder();
  growTree(folder.files, { "a/b": "1" });
  const said = { pid: NO_PROCESS, startedAt: 1, host: hostname(), ...owner };
  writeFileSync(join(folder.home, "owner.json"), JSON.stringify(said));
  return folder;
}

describe("a reserved folder", () => {
  test("is a name, and nothing is made", () => {
    const folders = temporaryFolders();
    const { home, files } = reserveFolder();
    expect(dirname(home)).toBe(folders);
    expect(basename(home)).toMatch(/^wink-workspace-[0-9a-f]{16}$/);
    expect(files).toBe(join(home, "files"));
    expect(reserveFolder().home).not.toBe(home);
    expect(readdirSync(folders)).toEqual([]);
  });

  test("is this user's alone once it is created, and says whose it is", async () => {
    temporaryFolders();
    const folder = await createdFolder();
    expect(lstatSync(folder.home).mode & 0o777).toBe(0o700);
    expect(lstatSync(folder.files).mode & 0o777).toBe(0o700);
    const startedAt = existsSync("/proc/self/stat") ? expect.any(Number) : null;
    expect(ownerOf(folder)).toEqual({ pid: process.pid, startedAt, host: hostname() });
    expect(folder).toSatisfy(Object.isFrozen);
  });

  test("is created once, and does not take what is there already", async () => {
    temporaryFolders();
    const folder = await createdFolder();
    await expect(folder.create()).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EEXIST",
      path: folder.home,
      message: expect.stringContaining("set TMPDIR to a folder with more room"),
    });
    expect(readdirSync(folder.files)).toEqual([]);
    const theirs = reserveFolder();
    mkdirSync(theirs.home);
    await expect(theirs.create()).rejects.toThrow("EEXIST");
    await theirs.remove();
    expect(existsSync(theirs.home)).toBe(true);
  });

  test("leaves nothing where it cannot be created", async () => {
    const folders = temporaryFolders();
    const folder = reserveFolder();
    chmodSync(folders, 0o555);
    await asPlainUser(async () => {
      await expect(folder.create()).rejects.toThrow("is not open to this user: a temporary folder");
    });
    chmodSync(folders, 0o755);
    expect(readdirSync(folders)).toEqual([]);
  });

  test.runIf(process.platform === "linux")(
    "leaves nothing where it cannot say whose it is",
    async () => {
      const folder = temporaryFolders();
      const name = `/${"x".repeat(249)}`;
      const rest = 4090 - folder.length - "/wink-workspace-0123456789abcdef".length;
      const deep =
        folder +
        name.repeat(16).slice(0, rest - (rest % 250)) +
        "/y".repeat(Math.floor((rest % 250) / 2));
      mkdirSync(deep, { recursive: true });
      vi.stubEnv("TMPDIR", deep);
      const reserved = reserveFolder();
      expect(reserved.home.length).toBeLessThan(4096);
      await expect(reserved.create()).rejects.toMatchObject({
        code: "EINVAL",
        path: reserved.home,
      });
      expect(readdirSync(deep)).toEqual([]);
    },
  );
});

describe("removing it", () => {
  test("can be done at any time and any number of times", async () => {
    const folders = temporaryFolders();
    const folder = reserveFolder();
    await folder.remove();
    await folder.create();
    growTree(folder.files, { "a/b": "1" });
    await Promise.all([folder.remove(), folder.remove()]);
    expect(readdirSync(folders)).toEqual([]);
    await folder.remove();
    await folder.create();
    await folder.remove();
    expect(readdirSync(folders)).toEqual([]);
  });

  test("does not stop at folders without permissions, nor leave it by a link", async () => {
    const folders = temporaryFolders();
    chmodSync(folders, 0o777);
    const outside = temporaryTree({ "kept/file": "1" });
    chmodSync(outside, 0o755);
    const folder = reserveFolder();
    await asPlainUser(async () => {
      await folder.create();
      growTree(folder.files, { "closed/deep/a": "1", "fixed/b": "2", "c/d": "3" });
      symlinkSync(outside, join(folder.files, "closed/link"));
      chmodSync(join(folder.files, "closed/deep"), 0o000);
      chmodSync(join(folder.files, "closed"), 0o000);
      chmodSync(join(folder.files, "fixed"), 0o555);
      chmodSync(folder.home, 0o000);
      await folder.remove();
    });
    expect(readdirSync(folders)).toEqual([]);
    expect(lstatSync(outside).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(outside, "kept/file"), "utf8")).toBe("1");
  });

  test("needs no thread where none lives long enough", async () => {
    const folders = temporaryFolders();
    const folder = await createdFolder();
    const kill = (worker: Worker) => void worker.terminate();
    process.on("worker", kill);
    onTestFinished(() => void process.off("worker", kill));
    await folder.remove();
    expect(readdirSync(folders)).toEqual([]);
  });
});

describe("a sweep", () => {
  test("removes what an ended process has left, and says so", async () => {
    const folders = temporaryFolders();
    const [one, other] = [await abandonedFolder(), await abandonedFolder()];
    const mine = await createdFolder();
    const swept = await sweepAbandonedFolders();
    expect([...swept].sort()).toEqual([one.home, other.home].sort());
    expect(readdirSync(folders)).toEqual([basename(mine.home)]);
    expect(await sweepAbandonedFolders()).toEqual([]);
    await mine.remove();
  });

  test("finds what a crashed process has left", async () => {
    const folders = temporaryFolders();
    const code = `
      const { reserveFolder } = await import(${moduleUrl});
      await reserveFolder().create();
      process.kill(process.pid, "SIGKILL");
    `;
    await expect(runNode(code)).rejects.toMatchObject({ signal: "SIGKILL" });
    expect(readdirSync(folders)).toHaveLength(1);
    expect(await sweepAbandonedFolders()).toHaveLength(1);
    expect(readdirSync(folders)).toEqual([]);
  });

  test("leaves what is a living process's, or another machine's", async () => {
    const folders = temporaryFolders();
    await abandonedFolder({ host: `${hostname()}-2` });
    await abandonedFolder({ pid: process.ppid, startedAt: null });
    expect(await sweepAbandonedFolders()).toEqual([]);
    expect(readdirSync(folders)).toHaveLength(2);
  });

  test.runIf(isRoot)("leaves what is another user's", async () => {
    temporaryFolders();
    const { home, files } = await abandonedFolder();
    chownSync(home, NOBODY, NOBODY);
    expect(await sweepAbandonedFolders()).toEqual([]);
    expect(existsSync(files)).toBe(true);
  });

  test("leaves what has no owner's file, or only a link to one", async () => {
    const folders = temporaryFolders();
    const left = await abandonedFolder();
    const elsewhere = join(temporaryTree(), "elsewhere");
    renameSync(left.home, elsewhere);
    symlinkSync(elsewhere, left.home);
    const linked = await createdFolder();
    rmSync(join(linked.home, "owner.json"));
    symlinkSync(join(elsewhere, "owner.json"), join(linked.home, "owner.json"));
    growTree(folders, { "wink-workspace-none/a": "", "wink-workspace-file": "", other: null });
    const before = readdirSync(folders);
    expect(await sweepAbandonedFolders()).toEqual([]);
    expect(readdirSync(folders)).toEqual(before);
    expect(existsSync(join(elsewhere, "files/a/b"))).toBe(true);
  });

  test("passes over what it cannot remove", async () => {
    const folders = temporaryFolders();
    const [left, other] = [await abandonedFolder(), await abandonedFolder()];
    if (isRoot) for (const { home } of [left, other]) chownSync(home, NOBODY, NOBODY);
    chmodSync(folders, 0o555);
    const { stdout } = await runNode(SWEEP, isRoot ? { uid: NOBODY, gid: NOBODY } : {});
    expect(JSON.parse(stdout)).toEqual([]);
    expect(readdirSync(folders)).toHaveLength(2);
    chmodSync(folders, 0o755);
  });

  test("finds nothing where there is no temporary folder", async () => {
    vi.stubEnv("TMPDIR", join(temporaryFolders(), "gone"));
    expect(await sweepAbandonedFolders()).toEqual([]);
  });

  test("by several processes at once removes each folder once", async () => {
    const folders = temporaryFolders();
    const homes: string[] = [];
    for (let count = 0; count < 12; count++) {
      const { home, files } = await abandonedFolder();
      for (let file = 0; file < 40; file++) growTree(files, { [`d${file % 7}/${file}`]: "1" });
      homes.push(home);
    }
    const said = await Promise.all([runNode(SWEEP), runNode(SWEEP), runNode(SWEEP)]);
    const swept = said.flatMap(({ stdout }) => JSON.parse(stdout));
    expect(swept.sort()).toEqual(homes.sort());
    expect(readdirSync(folders)).toEqual([]);
  });
});
