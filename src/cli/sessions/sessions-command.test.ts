import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { runSessionsCommand } from "../../../tests/support/cli/run-sessions-command.ts";
import { storeRun } from "../../../tests/support/cli/stored-run.ts";
import { createHostileRecords } from "../../../tests/support/inspect/hostile-records.ts";
import { startStoreHolder } from "../../../tests/support/stores/store-holder.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { FollowedSession } from "../../inspect/followed-session.ts";
import { openSource } from "../../inspect/sources/open-source.ts";
import { Session } from "../../session/session.ts";
import { JsonlSessionStore } from "../../stores/jsonl-session-store.ts";
import { openStore } from "../open-store.ts";
import { removeSessions } from "./remove-sessions.ts";

const STORES = [
  ["a folder", "sessions"],
  ["SQLite", "sessions.sqlite"],
] as const;

/** Creates a store with sessions of one run each. */
async function createStore(name: string, ...ids: readonly string[]): Promise<string> {
  const place = join(temporaryTree(), name);
  await using store = await openStore(place);
  for (const id of ids) {
    await storeRun(store, id);
    const now = Date.now();
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(now); // no two have the same date
  }
  return place;
}

const UNPRINTABLE = /(?!\n)\p{C}/u;

describe("wink sessions", () => {
  test.each(["ls", "show", "export", "rm"])(
    "%s --help has examples and is a success",
    async (name) => {
      const { out, code } = await runSessionsCommand(name, "--help");
      expect(out).toContain("Examples:\n  wink sessions");
      expect(out).toContain("--debug");
      expect(code).toBe(0);
    },
  );

  test.each([
    [["ls"], "--store is missing. Use --store with a folder of sessions, a SQLite file or a"],
    [["ls", "--store", "a", "--limit", "0"], "Use a positive integer."],
    [["show", "--store", "a"], "missing required argument 'id'"],
    [["export", "a", "--store", "a", "--force"], "--force must be used together with --out"],
    [["rm", "--store", "a"], "missing required argument 'ids'"],
    [["rm", "a", "--store", "a"], "no terminal can answer the question. Use --yes"],
    [["remove"], "unknown command 'remove'"],
  ])("exits with 2 for %j", async (args, problem) => {
    const { err, code } = await runSessionsCommand(...args);
    expect(err).toContain(problem);
    expect(code).toBe(2);
  });

  test("exits with 1 for a store that is missing, and creates none", async () => {
    const folder = temporaryTree();
    for (const name of ["sessions", "sessions.sqlite"]) {
      const place = join(folder, name);
      const { err, code } = await runSessionsCommand("ls", "--store", place);
      expect(err).toContain("error: --store must be an existing folder, a SQLite file or a");
      expect(code).toBe(1);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(["show", "export"])("%s suggests the id that was probably meant", async (name) => {
    const place = await createStore("sessions", "nightly");
    const near = await runSessionsCommand(name, "nightli", "--store", place);
    expect(near).toEqual({
      out: "",
      err: 'error: The store has no session "nightli". Did you mean "nightly"?\n',
      code: 1,
    });
    const far = await runSessionsCommand(name, "weekly report", "--store", place);
    expect(far.err).toContain("List the sessions with wink sessions ls.");
    const { err } = await runSessionsCommand(name, "x".repeat(129), "--store", place);
    expect(err).toContain("The id of a stored session must be a string of 1-128 bytes");
  });
});

describe.each(STORES)("the sessions in %s", (_name, file) => {
  test("are listed with their totals, the newest first", async () => {
    const place = await createStore(file, "b", "a");
    {
      await using store = await openStore(place);
      await store.append("c:\u202e 1", { kind: "session", createdAt: "2020-01-01T00:00:00Z" });
    }
    const { out, err, code } = await runSessionsCommand("ls", "--store", place);
    expect({ err, code }).toEqual({ err: "", code: 0 });
    const [title, ...lines] = out.trim().split("\n");
    expect(title).toMatch(/^ID +STATE +STARTED \(UTC\) +LAST ACTIVITY +EVALUATIONS +TURNS +TOKENS/);
    expect(lines.map((line) => line.split("  ")[0])).toEqual(["a", "b", "c:\\u{202e} 1"]);
    expect(lines[2]).toMatch(/ empty +2020-01-01 00:00 +- +0 +0 +0 +-$/);
    expect(lines[0]).toMatch(/^a +done +20\S+ \S+ +20\S+ \S+ +1 +2 +2,400 +-$/);
  });

  test("are one JSON array with --json, and --limit takes the newest", async () => {
    const place = await createStore(file, "old", "new");
    const { out } = await runSessionsCommand("ls", "--store", place, "--json");
    expect(JSON.parse(out)).toMatchObject([
      {
        ...{ id: "new", state: "done", promptName: "bakery:baker", tags: { shop: "north" } },
        ...{ evaluations: 1, turns: 2, calls: 2, failedCalls: 1, costUsd: null, problem: null },
        usage: { totalTokens: 2_400 },
        startedAt: expect.stringMatching(/Z$/),
        lastActivityAt: expect.stringMatching(/Z$/),
      },
      { id: "old" },
    ]);
    const limited = await runSessionsCommand("ls", "--store", place, "--json", "--limit", "1");
    expect(JSON.parse(limited.out)).toMatchObject([{ id: "new" }]);
    const short = await runSessionsCommand("ls", "--store", place, "--limit", "1");
    expect(short.out).toContain("… and 1 more (use --limit to show them)\n");
  });

  test("are shown with their calls, notices and answer, without control characters", async () => {
    const place = await createStore(file, "nightly");
    const { out, err, code } = await runSessionsCommand("show", "nightly", "--store", place);
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out).toMatch(/^Session nightly\n {2}state +done\n {2}prompt +bakery:baker\n/);
    expect(out).toContain("  work     1 evaluation, 2 turns, 2 calls (1 failed)\n");
    expect(out).toContain("  tokens   2,000 input, 400 output\n");
    expect(out).toContain("\nInput\n  Bread!\n");
    expect(out).toMatch(/ {2}\d\d:\d\d:\d\d {2}✓ bakery:baker {2}\(.*2,400 tokens\)/);
    expect(out).toMatch(/ {6}✓ bake {2}\(\d+ms\)/);
    expect(out).toMatch(/ {6}✗ burn {2}\(\d+ms\) {2}.*on fire/);
    expect(out).toContain("\nNotices\n  ✗ burn: ");
    expect(out).toContain("\nAnswer\n  Done.\n  \\u{1b}]0;hostile\\u{7}\n");
    expect(out).not.toMatch(UNPRINTABLE);
  });

  test("are shown as one JSON document with --json", async () => {
    const place = await createStore(file, "nightly");
    const { out } = await runSessionsCommand("show", "nightly", "--store", place, "--json");
    expect(JSON.parse(out)).toMatchObject({
      ...{ id: "nightly", state: "done", turns: 2, input: "Bread!" },
      answer: { isError: false, text: "Done.\n\u001b]0;hostile\u0007" },
      tools: expect.arrayContaining([expect.objectContaining({ name: "burn", failed: 1 })]),
      entries: expect.arrayContaining([
        expect.objectContaining({
          key: "1",
          kind: "evaluation",
          title: "bakery:baker",
          status: "ok",
        }),
        expect.objectContaining({ kind: "call", title: "burn", status: "failed" }),
      ]),
    });
  });

  test("are exported byte for byte", async () => {
    const place = await createStore(file);
    const text = '{"2":0.1,"b":1e+21,"a":"\\u0000\\ud800é\u2028","__proto__":{"c":[-1e-7]}}';
    {
      await using store = await openStore(place);
      await store.append("tricky", JSON.parse(text));
    }
    const { out } = await runSessionsCommand("export", "tricky", "--store", place);
    expect(out).toBe(`${text}\n`);
    expect(out).toBe(readStored(place, "tricky"));
  });

  test("are exported to a terminal without control characters, as the same JSON", async () => {
    const place = await createStore(file);
    const record = { a: "\u0085\u202e\u007f", "\u{e0001}": "é😀" };
    {
      await using store = await openStore(place);
      await store.append("hostile", record);
    }
    const isTTY = Object.getOwnPropertyDescriptor(process.stdout, "isTTY");
    process.stdout.isTTY = true;
    onTestFinished(() => {
      Object.defineProperty(process.stdout, "isTTY", isTTY ?? { value: undefined, writable: true });
    });
    const { out } = await runSessionsCommand("export", "hostile", "--store", place);
    expect(JSON.parse(out)).toEqual(record);
    expect(out).not.toMatch(UNPRINTABLE);
    expect(out).toContain("é😀");
  });

  test("are exported to a private file that the inspector and a store open", async () => {
    const place = await createStore(file, "nightly");
    const folder = temporaryTree();
    const path = join(folder, "nightly.jsonl");
    const args = ["export", "nightly", "--store", place, "--out", path] as const;
    const { out } = await runSessionsCommand(...args);
    expect(out).toMatch(/^Wrote .*nightly\.jsonl: \d+ records, [\d,]+ bytes\.\n$/);
    expect(readFileSync(path, "utf8")).toBe(readStored(place, "nightly"));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["nightly.jsonl"]);

    await using source = await openSource({ target: path });
    const feed = await source.open("nightly");
    const shown = await (feed && new FollowedSession("nightly", feed).load());
    expect(shown).toMatchObject({ state: "done", turns: 2, problem: null });
    await using copy = new JsonlSessionStore(folder);
    const session = await Session.open(copy, "nightly");
    expect(session.tags).toEqual({ shop: "north" });
  });

  test("are exported to a new file, or with --force to an existing one", async () => {
    const place = await createStore(file, "nightly");
    const folder = temporaryTree({ "a.jsonl": "mine" });
    const path = join(folder, "a.jsonl");
    const args = ["export", "nightly", "--store", place, "--out"] as const;
    const refused = await runSessionsCommand(...args, path);
    expect(refused.err).toMatch(/^error: --out must be a new file, .* Pass --force to replace it/);
    expect(refused.code).toBe(1);
    expect(readFileSync(path, "utf8")).toBe("mine");
    const nowhere = await runSessionsCommand(...args, join(folder, "no", "a.jsonl"));
    expect(nowhere.err).toContain("--out must be a file that can be written (ENOENT), got");
    expect((await runSessionsCommand(...args, path, "--force")).code).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(readStored(place, "nightly"));
    expect(readdirSync(folder)).toEqual(["a.jsonl"]);
  });

  test("are deleted with --yes, all or none if an id is unknown", async () => {
    const place = await createStore(file, "one", "two", "three");
    const rm = async (...args: readonly string[]) =>
      await runSessionsCommand("rm", ...args, "--store", place, "--yes");
    expect(await rm("one", "tow")).toEqual({
      out: "",
      err: 'error: The store has no session "tow". Did you mean "two"?\n',
      code: 1,
    });
    expect(await rm("one", "one")).toEqual({ out: "1 session deleted.\n", err: "", code: 0 });
    const { out } = await rm("two", "three", "--json");
    expect(JSON.parse(out)).toEqual({ deleted: ["two", "three"], failed: [] });
    await using store = await openStore(place);
    expect(await store.list()).toEqual([]);
  });

  test("are deleted only if the answer on the terminal is yes", async () => {
    const place = await createStore(file, "one", "two");
    const questions: string[] = [];
    for (const name of ["log", "error"] as const) {
      const spy = vi.spyOn(console, name).mockImplementation(() => {});
      onTestFinished(() => spy.mockRestore());
    }
    const removeIf = async (answer: boolean, ...ids: readonly string[]) => {
      const ask = async (question: string) => {
        questions.push(question);
        return answer;
      };
      return await removeSessions({ place }, { ids, yes: false, json: true, ask });
    };
    expect(await removeIf(false, "one", "two")).toBe(1);
    await using store = await openStore(place);
    expect(await store.list()).toEqual(["one", "two"]);
    expect(await removeIf(true, "one")).toBe(0);
    expect(await store.list()).toEqual(["two"]);
    expect(questions).toEqual([
      "Delete 2 sessions? This cannot be undone.",
      "Delete session one? This cannot be undone.",
    ]);
  });
});

describe.each([
  ["jsonl", "sessions"],
  ["sqlite", "sessions.sqlite"],
] as const)("a session in a %s store that another process works on", (kind, file) => {
  test("is not deleted until the process has ended", async () => {
    const folder = temporaryTree();
    const place = join(folder, file);
    {
      await using store = await openStore(place);
      await storeRun(store, "busy");
      await storeRun(store, "idle");
    }
    const holder = await startStoreHolder(kind, folder, "busy");
    const args = ["rm", "busy", "idle", "--store", place, "--yes", "--json"] as const;
    const { out, code } = await runSessionsCommand(...args);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      deleted: ["idle"],
      failed: [
        {
          id: "busy",
          reason: expect.stringMatching(
            /^Session "busy" is held by holder \d+ since .*Z\. Wait until its evaluation ends, or stop that process\.$/,
          ),
        },
      ],
    });
    await holder.signal("SIGKILL");
    expect(await runSessionsCommand("rm", "busy", "--store", place, "--yes")).toEqual({
      out: "1 session deleted.\n",
      err: "",
      code: 0,
    });
  });
});

describe("damaged sessions", () => {
  test("are rows of the list, shown up to the damage, exported as they are, and deleted", async () => {
    const place = await createStore("sessions", "good");
    const path = join(place, "bad.jsonl");
    const lines = readFileSync(join(place, "good.jsonl"), "utf8").split("\n").slice(0, 4);
    const bytes = Buffer.concat([
      Buffer.from(lines.join("\n")),
      Buffer.from("\n{\xff}\n{}\n", "latin1"),
    ]);
    writeFileSync(path, bytes);
    const { out, err, code } = await runSessionsCommand("ls", "--store", place);
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out).toMatch(
      /\nbad +damaged .* Line 5 of .*bad\.jsonl is not a record: it is not UTF-8/,
    );
    expect(out).toMatch(/\ngood +done /);
    const shown = await runSessionsCommand("show", "bad", "--store", place);
    expect(shown.out).toContain("state    damaged (only the records before the damage are shown)");
    const copy = join(temporaryTree(), "bad.jsonl");
    await runSessionsCommand("export", "bad", "--store", place, "--out", copy);
    expect(readFileSync(copy).equals(bytes)).toBe(true);
    expect((await runSessionsCommand("rm", "bad", "--store", place, "--yes")).code).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  test("print no control characters, even if every field has some", async () => {
    const place = join(temporaryTree(), "sessions");
    {
      await using store = await openStore(place);
      for (const record of createHostileRecords()) await store.append("hostile", record);
    }
    for (const args of [["ls"], ["show", "hostile"]]) {
      const { out, code } = await runSessionsCommand(...args, "--store", place);
      expect(code).toBe(0);
      expect(out).not.toMatch(UNPRINTABLE);
    }
  });
});

/** Reads the records of a session without the store. */
function readStored(place: string, id: string): string {
  if (!place.endsWith(".sqlite")) return readFileSync(join(place, `${id}.jsonl`), "utf8");
  using database = new DatabaseSync(place, { readOnly: true });
  const sql = "SELECT record FROM record JOIN session ON session = key WHERE id = ? ORDER BY n";
  const rows = database.prepare(sql).all(id);
  return rows.map(({ record }) => `${record}\n`).join("");
}

test("a reader that closes the pipe early ends wink without an error", async () => {
  const place = await createStore("sessions", "one", "two");
  const command = `"${process.execPath}" src/cli/main.ts sessions ls --store "$1" --json | head -n 1`;
  const output = execFileSync("sh", ["-c", command, "sh", place], { encoding: "utf8" });
  expect(output).toBe("[\n");
});
