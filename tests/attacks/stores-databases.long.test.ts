import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SqliteSessionStore } from "weakincentives/stores";
import { attempt } from "../support/attacks/attempt.ts";
import { runStore, type StoreOutcome, type StoreStep } from "../support/attacks/store-process.ts";
import {
  ALL,
  attemptAsBoth,
  getMode,
  isRoot,
  ORDINARY,
  OTHER,
  surface,
  useStoreTarget,
  withDisk,
} from "../support/attacks/store-target.ts";

const target = useStoreTarget();
const getDatabase = () => join(target.directory, "sessions.sqlite");

/** Returns the steps that were not refused with `problem` and a remedy. */
function findAccepted({ results }: StoreOutcome, problem: string): readonly string[] {
  const accepted = results.filter(({ error, message = "" }) => {
    const isClear = message.includes(problem) && /\. [A-Z][^.]*\.$/.test(message);
    return error !== "SessionStoreError" || !isClear;
  });
  return accepted.map((one) => JSON.stringify(one));
}

attemptAsBoth(
  target,
  {
    finding: "own",
    tries: "put a symlink to another file where the SQLite database or one of its files is",
    shows: "Every operation is refused with the path, and the other file is unchanged.",
  },
  async (as) => {
    const before = readFileSync(target.victim, "utf8");
    const through: string[] = [];
    for (const suffix of ["", "-wal", "-shm", "-journal"]) {
      writeFileSync(getDatabase(), "", { mode: 0o600 });
      if (as === "user") chownSync(getDatabase(), ORDINARY, ORDINARY);
      rmSync(`${getDatabase()}${suffix}`, { force: true });
      symlinkSync(target.victim, `${getDatabase()}${suffix}`);
      const order = { directory: target.directory, store: "sqlite", as, steps: ALL } as const;
      through.push(...findAccepted(await runStore(order), "is a symlink, not a file"));
      rmSync(`${getDatabase()}${suffix}`);
    }
    const isUnchanged = readFileSync(target.victim, "utf8") === before;
    return { tried: 16, through: isUnchanged ? through : [...through, "the other file changed"] };
  },
);

attemptAsBoth(
  target,
  {
    finding: "own",
    tries: "plant a SQLite database or a journal in a shared folder as another user",
    shows: "A file of another user is refused, so no journal of theirs is rolled back.",
  },
  async (as) => {
    chownSync(target.directory, 0, 0);
    chmodSync(target.directory, 0o1777);
    const through: string[] = [];
    for (const suffix of ["", "-wal", "-journal"]) {
      const planted = `${getDatabase()}${suffix}`;
      writeFileSync(planted, "planted");
      chmodSync(planted, 0o666);
      chownSync(planted, OTHER, OTHER);
      const steps = suffix === "" ? ALL : ([["append", "a", {}]] as const);
      const outcome = await runStore({ directory: target.directory, store: "sqlite", as, steps });
      through.push(...findAccepted(outcome, `belongs to another user (uid ${OTHER})`));
      if (readFileSync(planted, "utf8") !== "planted") through.push(`${planted} was changed`);
      for (const name of readdirSync(target.directory)) rmSync(join(target.directory, name));
    }
    return { tried: 6, through };
  },
);

attemptAsBoth(
  target,
  {
    finding: "own",
    tries: "read the SQLite database of a process that runs with umask 0",
    shows: "The database, its journal and its shared memory have mode 0600, the new folder 0700.",
  },
  async (as) => {
    const directory = join(target.directory, "new");
    const modes: number[] = [];
    const steps: readonly StoreStep[] = [["append", "a", {}], ["wait"]];
    await runStore({ directory, store: "sqlite", as, umask: 0, steps }, async () => {
      const paths = ["", "sessions.sqlite", "sessions.sqlite-wal", "sessions.sqlite-shm"];
      modes.push(...paths.map((name) => getMode(join(directory, name))));
    });
    const isPrivate = modes.length === 4 && modes.every((mode) => (mode & 0o077) === 0);
    return { tried: 4, through: isPrivate ? [] : modes.map((mode) => mode.toString(8)) };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "store sessions in a file that is no database, is truncated, or is of another program",
    shows: "Each is refused with a remedy, and none of the three files is changed.",
  },
  async () => {
    const through: string[] = [];
    const path = getDatabase();
    const prepare = [
      async () => writeFileSync(path, "no database".repeat(1_000)),
      async () => {
        await using store = new SqliteSessionStore(path);
        for (const n of [0, 1]) await store.append("a", { n, text: "x".repeat(50_000) });
        await store.close();
        truncateSync(path, 5_000);
      },
      async () => {
        const other = new DatabaseSync(path);
        other.exec("CREATE TABLE record (record); INSERT INTO record VALUES ('theirs')");
        other.close();
      },
    ];
    for (const create of prepare) {
      rmSync(path, { force: true });
      await create();
      const before = readFileSync(path);
      const outcome = await runStore({ directory: target.directory, store: "sqlite", steps: ALL });
      through.push(...findAccepted(outcome, `The database ${path} cannot be used: `));
      if (!readFileSync(path).equals(before)) through.push("the file was changed");
    }
    return { tried: 12, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    as: "root",
    tries: "fill the disk that holds the SQLite database",
    shows: "The message says to free space on that disk, and earlier records are kept.",
  },
  async () =>
    await withDisk(target.directory, "size=192k", async () => {
      const steps: StoreStep[] = [
        ["append", "a", { n: 1 }],
        ["append", "a", { text: "x".repeat(100_000) }],
        ["read", "a"],
        ["append", "a", { n: 2 }],
      ];
      const { results } = await runStore({ directory: target.directory, store: "sqlite", steps });
      const isClear =
        results[1]?.message?.includes("Free space on that disk, then reopen") === true;
      const isKept = JSON.stringify(results[2]?.value) === '[{"n":1}]';
      const isUsable = results[3]?.value === null;
      return { through: isClear && isKept && isUsable ? [] : [JSON.stringify(results)] };
    }),
  { skip: !isRoot },
);

attempt(
  {
    finding: "own",
    surface,
    as: "root",
    tries: "fill the disk while a session is claimed, so that its lock stays behind",
    shows: "The claim fails, its lock is removed, and the next one succeeds once there is space.",
  },
  async () =>
    await withDisk(target.directory, "size=64k", async () => {
      const filler = join(target.directory, "filler");
      writeFileSync(filler, Buffer.alloc(64 * 1024));
      const steps: StoreStep[] = [["claim", "a"], ["wait"], ["claim", "a"], ["close"]];
      const { results } = await runStore({ directory: target.directory, steps }, async () =>
        rmSync(filler),
      );
      const isClear = results[0]?.message?.includes("Free space on that disk") === true;
      const isClaimed = typeof results[2]?.value === "number";
      const isClean = !existsSync(join(target.directory, "a.lock"));
      return { through: isClear && isClaimed && isClean ? [] : [JSON.stringify(results)] };
    }),
  { skip: !isRoot },
);

attemptAsBoth(
  target,
  {
    finding: "own",
    tries: "replace a session's claim file by a folder, a symlink, or a file of another user",
    shows:
      "Writing is refused and names the claim file, so that its remedy does not mean the session's file.",
  },
  async (as) => {
    const claim = join(target.directory, "a.claim");
    const before = readFileSync(target.victim, "utf8");
    const steps: readonly StoreStep[] = [
      ["append", "a", {}],
      ["claim", "a"],
    ];
    const replace = [
      () => mkdirSync(claim),
      () => symlinkSync(target.victim, claim),
      () => {
        writeFileSync(claim, "9007199254740000\n");
        chownSync(claim, OTHER, OTHER);
        chmodSync(claim, 0o666);
      },
    ];
    const through: string[] = [];
    for (const create of replace) {
      create();
      const outcome = await runStore({ directory: target.directory, as, steps });
      through.push(...findAccepted(outcome, `its claim file ${claim} `));
      rmSync(claim, { recursive: true });
    }
    const isUnchanged = readFileSync(target.victim, "utf8") === before;
    return { tried: 6, through: isUnchanged ? through : [...through, "the other file changed"] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "hold a session indefinitely with a lease from before the clock was set back",
    shows: "A lease that ends more than a day from now is over.",
  },
  async () => {
    await using store = new SqliteSessionStore(getDatabase());
    await store.claim("a");
    const other = new DatabaseSync(getDatabase());
    other.exec(`UPDATE session SET holder = '{}', lease_until = ${Date.now() + 365 * 86_400_000}`);
    other.close();
    const outcome = await runStore({
      directory: target.directory,
      store: "sqlite",
      steps: [["claim", "a"], ["close"]],
    });
    const isClaimed = typeof outcome.results[0]?.value === "number";
    return { through: isClaimed ? [] : [JSON.stringify(outcome.results)] };
  },
);
