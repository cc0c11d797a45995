import { appendFileSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalProvider } from "weakincentives/local";
import { JsonlSessionStore } from "weakincentives/stores";
import { attempt } from "../support/attacks/attempt.ts";
import { runStore } from "../support/attacks/store-process.ts";
import { ALL, getMode, MiB, surface, useStoreTarget } from "../support/attacks/store-target.ts";

const target = useStoreTarget();

attempt(
  {
    finding: "own",
    surface,
    tries: "make a session's file 8 TiB of holes",
    shows:
      "Reading and writing stop after 128 MiB without a line break; memory stays below 500 MiB.",
  },
  async () => {
    writeFileSync(target.getFile("a"), "");
    truncateSync(target.getFile("a"), 8 * 1024 ** 4);
    const { directory } = target;
    const { results, peakBytes } = await runStore({ directory, steps: ALL.slice(0, 2) });
    const refused = results.filter(({ message }) => message?.includes("line 1 is longer than"));
    const through = refused.length === 2 ? [] : [JSON.stringify(results)];
    if (peakBytes > 500 * MiB) through.push(`${peakBytes} bytes`);
    return { tried: 2, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "store one valid record of 200 MiB in a session's file",
    shows: "Reading is refused with the line's number before the record is parsed.",
  },
  async () => {
    const path = target.getFile("a");
    writeFileSync(path, `{"n":1}\n{"text":"`);
    appendFileSync(path, Buffer.alloc(200 * MiB, "x"));
    appendFileSync(path, `"}\n`);
    const { directory } = target;
    const { results, peakBytes } = await runStore({ directory, steps: [["read", "a"]] });
    const isRefused = results[0]?.message?.includes("line 2 is longer than") === true;
    const isSmall = peakBytes < 500 * MiB;
    return { through: isRefused && isSmall ? [] : [`${peakBytes} ${results[0]?.message}`] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "let a session's file grow by two records for each record that is read",
    shows: "Reading ends at the size that the file had when it was opened.",
  },
  async () => {
    const path = target.getFile("a");
    writeFileSync(path, '{"n":1}\n'.repeat(20_000));
    const store = new JsonlSessionStore(target.directory);
    let read = 0;
    for await (const _record of store.read("a")) {
      appendFileSync(path, '{"n":2}\n{"n":2}\n');
      if (++read > 20_000) return { through: ["it read more than there was"] };
    }
    return { through: read === 20_000 ? [] : [`${read} records`] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "nest a record's arrays 5,000,000 deep",
    shows: "The line is refused or parsed; the process does not crash.",
  },
  async () => {
    const depth = 5_000_000;
    const path = target.getFile("a");
    writeFileSync(path, `{"n":${"[".repeat(depth)}${"]".repeat(depth)}}\n{"n":2}\n`);
    const store = new JsonlSessionStore(target.directory);
    try {
      let count = 0;
      for await (const _record of store.read("a")) count++;
      return { through: count === 2 ? [] : [`${count} records`] };
    } catch (error) {
      return { through: (error as Error).name === "SessionStoreError" ? [] : [String(error)] };
    }
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "change the prototype of all objects through records with __proto__ and constructor",
    shows: "The names are ordinary members of the record, and no other object has them.",
  },
  async () => {
    writeFileSync(
      target.getFile("a"),
      '{"__proto__":{"polluted":1}}\n{"constructor":{"prototype":{"polluted":2}}}\n',
    );
    const records: object[] = [];
    for await (const record of new JsonlSessionStore(target.directory).read("a")) {
      records.push(record);
    }
    const isPolluted = "polluted" in {} || records.some((record) => "polluted" in record);
    return { tried: 2, through: isPolluted || records.length !== 2 ? ["polluted"] : [] };
  },
);

const IDS: readonly string[] = [
  "../outside",
  "../../etc/cron.d/job",
  "/etc/passwd",
  "a/b",
  "a\\..\\b",
  ".",
  "..",
  "%2e%2e%2foutside",
  "con",
  "aux.jsonl",
  "a.lock",
  "x\ny",
  "A",
  "a",
  "ä",
  "a\u0308",
  "~1",
  "-rf",
  "\u202Egpj",
  "🦊".repeat(32),
];

attempt(
  {
    finding: "own",
    surface,
    tries: "leave the folder or collide with another session by the session's id",
    shows:
      "20 ids with dots, slashes, escapes, device names and lookalikes give 20 files in the folder.",
  },
  async () => {
    await using store = new JsonlSessionStore(target.directory);
    for (const id of IDS) await store.append(id, { id });
    const through: string[] = [];
    for (const id of IDS) {
      for await (const record of store.read(id)) {
        if (JSON.stringify(record) !== JSON.stringify({ id })) through.push(id);
      }
    }
    const files = readdirSync(target.directory).filter((name) => name.endsWith(".jsonl"));
    if (files.length !== IDS.length) through.push(`${files.length} files`);
    if (readdirSync(target.root).length !== 2) through.push("a file outside");
    return { tried: IDS.length, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "use ids that no file name can hold: NUL, empty, lone surrogates, 256 MiB long, objects with toString",
    shows: "Each is refused before any file is touched.",
  },
  async () => {
    const hostile: readonly unknown[] = [
      "",
      "\uD800",
      "x".repeat(129),
      "x".repeat(2 ** 28),
      null,
      { toString: () => "a" },
      ["a"],
    ];
    const store = new JsonlSessionStore(target.directory);
    const through: string[] = [];
    for (const id of hostile) {
      const outcome = await store.append(id as string, {}).then(
        () => "stored",
        (error: Error) => error.name,
      );
      if (outcome !== "SessionStoreError") through.push(`${typeof id}: ${outcome}`);
    }
    await store.append("nul\0id", {});
    await store.close();
    const names = readdirSync(target.directory);
    return {
      tried: 8,
      through: names.join() === "nul%00id.claim,nul%00id.jsonl" ? through : [...through, ...names],
    };
  },
);

attempt(
  {
    finding: "own",
    surface: "local provider's data",
    tries: "read the local provider's conversations or sealing key as another user of the machine",
    shows:
      "local.sqlite, its journal and seal.key have mode 0600, also in a folder that existed before.",
  },
  async () => {
    const previous = process.umask(0);
    try {
      await using provider = new LocalProvider({ dataDir: target.directory, sandbox: "wasm" });
      const body = JSON.stringify({ model: "any", input: "Hello." });
      const headers = { "content-type": "application/json" };
      await provider.fetch(`http://localhost/v1/responses`, { method: "POST", body, headers });
      const files = readdirSync(target.directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      const open = files.filter((path) => (getMode(path) & 0o077) !== 0);
      return { tried: files.length, through: files.length < 2 ? ["no files"] : open };
    } finally {
      process.umask(previous);
    }
  },
);

attempt(
  {
    finding: "own",
    surface: "local provider's data",
    tries: "plant seal.key or local.sqlite as symlinks in the data folder",
    shows:
      "The provider refuses to start, and the files that the links name are neither read nor created.",
  },
  async () => {
    const through: string[] = [];
    for (const name of ["seal.key", "local.sqlite"]) {
      const dataDir = await mkdtemp(join(tmpdir(), "wink-planted-"));
      const elsewhere = join(target.root, name);
      await symlink(elsewhere, join(dataDir, name));
      const started = await start(dataDir);
      if (started !== "refused") through.push(`${name}: ${started}`);
      if (await stat(elsewhere).catch(() => null)) through.push(`${elsewhere} was created`);
      await rm(dataDir, { recursive: true });
    }
    return { tried: 2, through };
  },
);

async function start(dataDir: string): Promise<string> {
  try {
    await using provider = new LocalProvider({ dataDir, sandbox: "wasm" });
    const answer = await provider.fetch(`http://localhost/v1/models`);
    return answer.ok ? "started" : "refused";
  } catch {
    return "refused";
  }
}
