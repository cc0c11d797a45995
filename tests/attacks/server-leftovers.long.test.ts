import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { attempt } from "../support/attacks/attempt.ts";

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** Creates a folder for the temporary folders of servers, as `/tmp` is: open to all and sticky. */
function createSharedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-test-"));
  chmodSync(folder, 0o1777);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts `wink serve` with its temporary folders in `folder`. */
async function startServer(folder: string): Promise<ChildProcess & { readonly url: string }> {
  const args = ["src/cli/main.ts", "serve", "--port", "0", "--json", "--sandbox", "wasm"];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  return Object.assign(child, { url: String(JSON.parse(String(line)).url) });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

const listData = (folder: string) =>
  readdirSync(folder).filter((name) => name.startsWith("wink-local-"));

attempt(
  {
    finding: "C10",
    surface: "server",
    tries: "a killed server leaves its data in the temporary folder",
    shows:
      "The next start removes the folders of processes that have ended; signals remove them at once.",
  },
  async () => {
    const folder = createSharedFolder();
    const through: string[] = [];
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      await end(await startServer(folder), signal);
      if (listData(folder).length > 0) through.push(signal);
    }
    await end(await startServer(folder), "SIGKILL");
    expect(listData(folder)).toHaveLength(1);
    const next = await startServer(folder);
    await expect.poll(() => listData(folder), { timeout: 10_000 }).toHaveLength(1);
    const [data = ""] = listData(folder);
    const { pid } = JSON.parse(readFileSync(join(folder, data, "owner.json"), "utf8"));
    if (pid !== next.pid) through.push("SIGKILL");
    await end(next, "SIGTERM");
    return { tried: 4, through: [...through, ...listData(folder)] };
  },
  { timeout: 120_000 },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries:
      "another local user prepares folders and links with the server's prefix, so that a sweep deletes foreign files",
    shows:
      "Only plain folders of the same user with an owner file of an ended process are removed; links and others are kept.",
  },
  async () => {
    const folder = createSharedFolder();
    const outside = join(folder, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "precious"), "");
    const owner = JSON.stringify({ pid: 4_194_305, startedAt: 1, host: readHostName() });
    writeFileSync(join(outside, "owner.json"), owner);
    symlinkSync(outside, join(folder, "wink-local-link"));
    const linked = join(folder, "wink-local-owner");
    mkdirSync(linked);
    symlinkSync(join(outside, "owner.json"), join(linked, "owner.json"));
    mkdirSync(join(folder, "wink-local-none"));
    const foreign = join(folder, "wink-local-foreign");
    mkdirSync(foreign);
    writeFileSync(join(foreign, "owner.json"), owner);
    if (isRoot) chownSync(foreign, NOBODY, NOBODY);
    const inside = join(folder, "wink-local-inside");
    mkdirSync(inside);
    writeFileSync(join(inside, "owner.json"), owner);
    symlinkSync(outside, join(inside, "escape"));
    const server = await startServer(folder);
    await expect.poll(() => existsSync(inside), { timeout: 10_000 }).toBe(false);
    await end(server, "SIGTERM");
    const kept = [join(outside, "precious"), linked, join(folder, "wink-local-none")];
    if (isRoot) kept.push(foreign);
    return { tried: 5, through: kept.filter((path) => !existsSync(path)) };
  },
  { timeout: 60_000 },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries:
      "other local users read the files, the database or the sealing key of a server in the temporary folder",
    shows: "The folder has the mode 0700, and the key 0600.",
  },
  async () => {
    const folder = createSharedFolder();
    const server = await startServer(folder);
    const body = JSON.stringify({ model: "any", input: "Hi." });
    const headers = { "content-type": "application/json" };
    await fetch(`${server.url}/responses`, { method: "POST", headers, body });
    const [data = ""] = listData(folder);
    const home = join(folder, data);
    const through = (statSync(home).mode & 0o077) === 0 ? [] : [home];
    const key = statSync(join(home, "seal.key")).mode & 0o077;
    await end(server, "SIGTERM");
    return { tried: 2, through: key === 0 ? through : [...through, "seal.key"] };
  },
  { timeout: 60_000 },
);

attempt(
  {
    finding: "own",
    surface: "server",
    tries: "the temporary folder itself can be renamed by other users while a start sweeps it",
    shows: "Without the sticky bit nothing is swept.",
  },
  async () => {
    const folder = createSharedFolder();
    chmodSync(folder, 0o777);
    const left = join(folder, "wink-local-left");
    mkdirSync(left);
    writeFileSync(
      join(left, "owner.json"),
      JSON.stringify({ pid: 4_194_305, startedAt: 1, host: readHostName() }),
    );
    const server = await startServer(folder);
    await end(server, "SIGTERM");
    return { through: existsSync(left) ? [] : [left] };
  },
  { timeout: 60_000 },
);

function readHostName(): string {
  return readFileSync("/proc/sys/kernel/hostname", "utf8").trim();
}
