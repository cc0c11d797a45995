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
import { runAsPlainUser, temporaryTree, writeTree } from "../../tests/support/temporary-tree.ts";
import { reserveFolder, sweepAbandonedFolders, type TemporaryFolder } from "./temporary-folder.ts";

/** Creates the folder in which this test's temporary folders are created. */
function useTemporaryFolder(): string {
  const folder = temporaryTree();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

async function createFolder(): Promise<TemporaryFolder> {
  const folder = reserveFolder();
  await folder.create();
  return folder;
}

const readOwnerFile = ({ home }: TemporaryFolder) =>
  JSON.parse(readFileSync(join(home, "owner.json"), "utf8"));

/** No process has this pid: the maximum on Linux is 4194304. */
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

/** Creates a folder in the state in which an ended process leaves it. */
async function createAbandonedFolder(owner: object = {}): Promise<TemporaryFolder> {
  const folder = await createFolder();
  writeTree(folder.files, { "a/b": "1" });
  const content = { pid: NO_PROCESS, startedAt: 1, host: hostname(), ...owner };
  writeFileSync(join(folder.home, "owner.json"), JSON.stringify(content));
  return folder;
}

describe("reserveFolder()", () => {
  test("returns paths and creates nothing", () => {
    const folders = useTemporaryFolder();
    const { home, files } = reserveFolder();
    expect(dirname(home)).toBe(folders);
    expect(basename(home)).toMatch(/^wink-workspace-[0-9a-f]{16}$/);
    expect(files).toBe(join(home, "files"));
    expect(reserveFolder().home).not.toBe(home);
    expect(readdirSync(folders)).toEqual([]);
  });

  test("creates a folder for this user only, with an owner file", async () => {
    useTemporaryFolder();
    const folder = await createFolder();
    expect(lstatSync(folder.home).mode & 0o777).toBe(0o700);
    expect(lstatSync(folder.files).mode & 0o777).toBe(0o700);
    const startedAt = existsSync("/proc/self/stat") ? expect.any(Number) : null;
    expect(readOwnerFile(folder)).toEqual({ pid: process.pid, startedAt, host: hostname() });
    expect(folder).toSatisfy(Object.isFrozen);
  });

  test("creates a folder once and rejects an existing one", async () => {
    useTemporaryFolder();
    const folder = await createFolder();
    await expect(folder.create()).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EEXIST",
      path: folder.home,
      message: expect.stringContaining("Set TMPDIR to a writable folder with enough space"),
    });
    expect(readdirSync(folder.files)).toEqual([]);
    const theirs = reserveFolder();
    mkdirSync(theirs.home);
    await expect(theirs.create()).rejects.toThrow("EEXIST");
    await theirs.remove();
    expect(existsSync(theirs.home)).toBe(true);
  });

  test("leaves nothing behind if the folder cannot be created", async () => {
    const folders = useTemporaryFolder();
    const folder = reserveFolder();
    chmodSync(folders, 0o555);
    await runAsPlainUser(async () => {
      await expect(folder.create()).rejects.toThrow("is not accessible to this user. Set TMPDIR");
    });
    chmodSync(folders, 0o755);
    expect(readdirSync(folders)).toEqual([]);
  });

  test.runIf(process.platform === "linux")(
    "leaves nothing behind if the owner file cannot be written",
    async () => {
      const folder = useTemporaryFolder();
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

describe("TemporaryFolder.remove()", () => {
  test("can be called at any time and any number of times", async () => {
    const folders = useTemporaryFolder();
    const folder = reserveFolder();
    await folder.remove();
    await folder.create();
    writeTree(folder.files, { "a/b": "1" });
    await Promise.all([folder.remove(), folder.remove()]);
    expect(readdirSync(folders)).toEqual([]);
    await folder.remove();
    await folder.create();
    await folder.remove();
    expect(readdirSync(folders)).toEqual([]);
  });

  test("removes folders without permissions and does not follow links out of the folder", async () => {
    const folders = useTemporaryFolder();
    chmodSync(folders, 0o777);
    const outside = temporaryTree({ "kept/file": "1" });
    chmodSync(outside, 0o755);
    const folder = reserveFolder();
    await runAsPlainUser(async () => {
      await folder.create();
      writeTree(folder.files, { "closed/deep/a": "1", "fixed/b": "2", "c/d": "3" });
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

  test("removes the folder without a thread if threads are killed", async () => {
    const folders = useTemporaryFolder();
    const folder = await createFolder();
    const kill = (worker: Worker) => void worker.terminate();
    process.on("worker", kill);
    onTestFinished(() => void process.off("worker", kill));
    await folder.remove();
    expect(readdirSync(folders)).toEqual([]);
  });
});

describe("sweepAbandonedFolders()", () => {
  test("removes the folders of ended processes and returns their paths", async () => {
    const folders = useTemporaryFolder();
    const [one, other] = [await createAbandonedFolder(), await createAbandonedFolder()];
    const mine = await createFolder();
    const swept = await sweepAbandonedFolders();
    expect([...swept].sort()).toEqual([one.home, other.home].sort());
    expect(readdirSync(folders)).toEqual([basename(mine.home)]);
    expect(await sweepAbandonedFolders()).toEqual([]);
    await mine.remove();
  });

  test("removes a crashed process's folder", async () => {
    const folders = useTemporaryFolder();
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

  test("keeps the folders of running processes and of other hosts", async () => {
    const folders = useTemporaryFolder();
    await createAbandonedFolder({ host: `${hostname()}-2` });
    await createAbandonedFolder({ pid: process.ppid, startedAt: null });
    expect(await sweepAbandonedFolders()).toEqual([]);
    expect(readdirSync(folders)).toHaveLength(2);
  });

  test.runIf(isRoot)("keeps the folders of other users", async () => {
    useTemporaryFolder();
    const { home, files } = await createAbandonedFolder();
    chownSync(home, NOBODY, NOBODY);
    expect(await sweepAbandonedFolders()).toEqual([]);
    expect(existsSync(files)).toBe(true);
  });

  test("keeps folders without an owner file or with only a link to one", async () => {
    const folders = useTemporaryFolder();
    const left = await createAbandonedFolder();
    const elsewhere = join(temporaryTree(), "elsewhere");
    renameSync(left.home, elsewhere);
    symlinkSync(elsewhere, left.home);
    const linked = await createFolder();
    rmSync(join(linked.home, "owner.json"));
    symlinkSync(join(elsewhere, "owner.json"), join(linked.home, "owner.json"));
    writeTree(folders, { "wink-workspace-none/a": "", "wink-workspace-file": "", other: null });
    const before = readdirSync(folders);
    expect(await sweepAbandonedFolders()).toEqual([]);
    expect(readdirSync(folders)).toEqual(before);
    expect(existsSync(join(elsewhere, "files/a/b"))).toBe(true);
  });

  test("skips folders that it cannot remove", async () => {
    const folders = useTemporaryFolder();
    const [left, other] = [await createAbandonedFolder(), await createAbandonedFolder()];
    if (isRoot) for (const { home } of [left, other]) chownSync(home, NOBODY, NOBODY);
    chmodSync(folders, 0o555);
    const { stdout } = await runNode(SWEEP, isRoot ? { uid: NOBODY, gid: NOBODY } : {});
    expect(JSON.parse(stdout)).toEqual([]);
    expect(readdirSync(folders)).toHaveLength(2);
    chmodSync(folders, 0o755);
  });

  test("removes nothing from a folder in which other users can replace entries", async () => {
    const folders = useTemporaryFolder();
    await createAbandonedFolder();
    chmodSync(folders, 0o777);
    expect(await sweepAbandonedFolders()).toEqual([]);
    expect(readdirSync(folders)).toHaveLength(1);
  });

  test("returns an empty array if the temporary folder does not exist", async () => {
    vi.stubEnv("TMPDIR", join(useTemporaryFolder(), "gone"));
    expect(await sweepAbandonedFolders()).toEqual([]);
  });

  test("removes each folder once if several processes sweep concurrently", async () => {
    const folders = useTemporaryFolder();
    const homes: string[] = [];
    for (let count = 0; count < 12; count++) {
      const { home, files } = await createAbandonedFolder();
      for (let file = 0; file < 40; file++) writeTree(files, { [`d${file % 7}/${file}`]: "1" });
      homes.push(home);
    }
    const outputs = await Promise.all([runNode(SWEEP), runNode(SWEEP), runNode(SWEEP)]);
    const swept = outputs.flatMap(({ stdout }) => JSON.parse(stdout));
    expect(swept.sort()).toEqual(homes.sort());
    expect(readdirSync(folders)).toEqual([]);
  });
});
