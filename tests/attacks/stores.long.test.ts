import { spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { attempt } from "../support/attacks/attempt.ts";
import { runStore, type StoreStep } from "../support/attacks/store-process.ts";
import {
  ALL,
  attemptAsBoth,
  findThrough,
  getMode,
  isRoot,
  ORDINARY,
  surface,
  useStoreTarget,
  withDisk,
} from "../support/attacks/store-target.ts";

const target = useStoreTarget();

attemptAsBoth(
  target,
  {
    finding: "C10",
    tries: "put a symlink to another file where a session's file is",
    shows:
      "Reading, writing and deleting are refused and name the path; the other file is unchanged.",
  },
  async (as) => {
    symlinkSync(target.victim, target.getFile("a"));
    const through = findThrough(
      target,
      await runStore({ directory: target.directory, as, steps: ALL }),
      "it is a symlink",
    );
    return { tried: 3, through };
  },
);

attemptAsBoth(
  target,
  {
    finding: "C10",
    tries: "read the session files of another user with the usual umask",
    shows: "Files have mode 0600 and new folders 0700.",
  },
  async (as) => {
    const place = join(target.directory, "new", "sessions");
    await runStore({ directory: place, as, steps: [["append", "a", { n: 1 }]] });
    const modes = [join(place, "a.jsonl"), place, join(target.directory, "new")].map(getMode);
    return { tried: 3, through: modes.filter((mode) => (mode & 0o077) !== 0).map(String) };
  },
);

attempt(
  {
    finding: "C10",
    surface,
    as: "root",
    tries: "fill the disk that holds the sessions",
    shows:
      "The message names the file and says to free space on that disk; earlier records are kept.",
  },
  async () =>
    await withDisk(target.directory, "size=64k", async () => {
      const steps: StoreStep[] = [
        ["append", "a", { n: 1 }],
        ["append", "a", { text: "x".repeat(100_000) }],
        ["read", "a"],
      ];
      const { results } = await runStore({ directory: target.directory, steps });
      const message = results[1]?.message ?? "";
      const isClear =
        message.includes(target.getFile("a")) &&
        message.includes("Free space on that disk, then reopen");
      const isKept = JSON.stringify(results[2]?.value) === '[{"n":1}]';
      return { through: isClear && isKept ? [] : [JSON.stringify(results)] };
    }),
  { skip: !isRoot },
);

attempt(
  {
    finding: "C10",
    surface,
    as: "root",
    tries: "write a session to a read-only disk",
    shows: "The message names the file and says to use a directory on another disk.",
  },
  async () =>
    await withDisk(target.directory, "ro", async () => {
      const { results } = await runStore({
        directory: target.directory,
        steps: [["append", "a", {}]],
      });
      const message = results[0]?.message ?? "";
      const isClear =
        message.includes(target.getFile("a")) && message.includes("use a directory on another");
      return { through: isClear ? [] : [message] };
    }),
  { skip: !isRoot },
);

attemptAsBoth(
  target,
  {
    finding: "C13",
    tries: "put a pipe where a session's file is",
    shows: "Every operation fails at once, and the process exits by itself.",
  },
  async (as) => {
    spawnSync("mkfifo", ["-m", "666", target.getFile("a")]);
    const through = findThrough(
      target,
      await runStore({ directory: target.directory, as, steps: ALL }),
      "it is a pipe",
    );
    return { tried: 4, through };
  },
);

attemptAsBoth(
  target,
  {
    finding: "C13",
    tries: "make a session's lock a link to a folder with files named like locks",
    shows: "Writing is refused, and nothing in the other folder is deleted.",
  },
  async (as) => {
    const other = join(target.root, "other");
    mkdirSync(other);
    writeFileSync(join(other, `999999999.1.00000000.${hostname()}`), "");
    symlinkSync(other, join(target.directory, "a.lock"));
    writeFileSync(target.getFile("a"), '{"n":1}\n{"n"', { mode: 0o666 });
    if (as === "user") chownSync(other, ORDINARY, ORDINARY);
    const { results } = await runStore({ directory: target.directory, as, steps: ALL.slice(0, 3) });
    const refused = results.filter(({ message }) => message?.includes("a.lock is a symlink"));
    const through = refused.length === 3 ? [] : [JSON.stringify(results)];
    return { through: [...through, ...(readdirSync(other).length === 1 ? [] : ["deleted"])] };
  },
);

attemptAsBoth(
  target,
  {
    finding: "own",
    tries: "put a dangling symlink where a session's file will be created",
    shows: "The write is refused, and no file appears where the link points.",
  },
  async (as) => {
    const created = join(target.directory, "created");
    symlinkSync(created, target.getFile("a"));
    const through = findThrough(
      target,
      await runStore({ directory: target.directory, as, steps: ALL }),
      "it is a symlink",
    );
    return { through: [...through, ...(existsSync(created) ? ["created"] : [])] };
  },
);

attemptAsBoth(
  target,
  {
    finding: "own",
    tries: "hard-link another file of the same user to a session's name",
    shows: "Writing and deleting are refused, because the other file would change with it.",
  },
  async (as) => {
    const before = readFileSync(target.victim, "utf8");
    linkSync(target.victim, target.getFile("a"));
    const { results } = await runStore({ directory: target.directory, as, steps: ALL.slice(1, 3) });
    const refused = results.filter(({ message }) => message?.includes("it has 2 names"));
    const isUnchanged = readFileSync(target.victim, "utf8") === before;
    return {
      tried: 2,
      through: refused.length === 2 && isUnchanged ? [] : [JSON.stringify(results)],
    };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "put a listening socket where a session's file is",
    shows: "Every operation fails at once and says that it is not a file.",
  },
  async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(target.getFile("a"), resolve));
    const outcome = await runStore({ directory: target.directory, steps: ALL });
    server.close();
    return {
      tried: 4,
      through: findThrough(target, outcome, "it is a pipe, a socket or a device"),
    };
  },
);

attempt(
  {
    finding: "own",
    surface,
    as: "root",
    tries: "put a device that never ends (/dev/zero) where a session's file is",
    shows: "The device is recognized before it is read, and every operation is refused.",
  },
  async () => {
    spawnSync("mknod", [target.getFile("a"), "c", "1", "5"]);
    return {
      tried: 4,
      through: findThrough(
        target,
        await runStore({ directory: target.directory, steps: ALL }),
        "a device",
      ),
    };
  },
  { skip: !isRoot },
);
