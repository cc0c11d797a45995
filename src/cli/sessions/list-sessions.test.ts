import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { runSessionsCommand } from "../../../tests/support/cli/run-sessions-command.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { openStore } from "../open-store.ts";
import type { Screen } from "../style.ts";
import { listSessions } from "./list-sessions.ts";

const header = JSON.stringify({ kind: "session", createdAt: "2026-01-31T12:00:00.000Z" });

/** Lists sessions on a screen. Returns the printed lines. */
async function listOn(screen: Screen, place: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const spy = vi.spyOn(console, "log").mockImplementation((line) => lines.push(String(line)));
  onTestFinished(() => spy.mockRestore());
  await listSessions({ place }, { json: false, screen });
  return lines;
}

test("tells a person that a store has no sessions, and prints nothing into a pipe", async () => {
  const place = temporaryTree();
  expect(await listOn({ isTTY: true, columns: 80 }, place)).toEqual(["No sessions."]);
  expect(await listOn({}, place)).toEqual([]);
  const { out, code } = await runSessionsCommand("ls", "--store", place, "--json");
  expect({ out, code }).toEqual({ out: "[]\n", code: 0 });
});

test("cuts the problem of a damaged session to the width of the terminal", async () => {
  const place = temporaryTree({ "bad.jsonl": `${header}\n{\n` });
  const [, wide = ""] = await listOn({}, place);
  expect(wide).toContain("Restore a copy of the file, or remove that line and everything after");
  const [, narrow = ""] = await listOn({ isTTY: true, columns: 140 }, place);
  expect(narrow).toMatch(/^bad +damaged .* Line 2 of .*…$/);
  expect(narrow.length).toBeLessThanOrEqual(140);
  const [, tiny = ""] = await listOn({ isTTY: true, columns: 10 }, place);
  expect(tiny).toMatch(/ {2}Line 2 of .{9}…$/);
});

test("lists the states of sessions that run or wait for approval", async () => {
  const event = (type: string, more: object = {}) =>
    JSON.stringify({ kind: "event", event: { type, ...more } });
  const open = event("PromptRendered", { createdAt: "2026-01-31T12:00:01.000Z" });
  const parked = event("PromptFailed", { errorName: "EvaluationParkedError" });
  const place = temporaryTree({
    "open.jsonl": `${open}\n`,
    "parked.jsonl": `${header}\n${open}\n${parked}\n`,
  });
  const { out } = await runSessionsCommand("ls", "--store", place);
  expect(out).toMatch(/\nparked +parked +2026-01-31 12:00 /);
  expect(out).toMatch(/\nopen +open +2026-01-31 12:00 /); // the time of its first event
});

test.each([false, true])(
  "omits a session that is deleted while the list is read: --json %j",
  async (json) => {
    const place = temporaryTree({ "gone.jsonl": `${header}\n`, "one.jsonl": `${header}\n` });
    let out = "";
    const collect = (text: unknown) => {
      out += text;
      return true;
    };
    const removeAfterListing = (progress: unknown) => {
      if (String(progress).includes("Reading 2 sessions …")) rmSync(join(place, "gone.jsonl"));
      return true;
    };
    const spies = [
      vi.spyOn(process.stderr, "write").mockImplementation(removeAfterListing),
      vi.spyOn(process.stdout, "write").mockImplementation(collect),
      vi.spyOn(console, "log").mockImplementation(collect),
    ];
    const before = Object.getOwnPropertyDescriptor(process.stderr, "isTTY");
    process.stderr.isTTY = true;
    onTestFinished(() => {
      Object.defineProperty(
        process.stderr,
        "isTTY",
        before ?? { value: undefined, writable: true },
      );
      for (const spy of spies) spy.mockRestore();
    });
    await listSessions({ place }, { json, screen: {} });
    expect(readdirSync(place)).toEqual(["one.jsonl"]);
    expect(out).not.toContain("gone");
    expect(json ? JSON.parse(out) : out).toEqual(
      json ? [expect.objectContaining({ id: "one" })] : expect.stringMatching(/one +empty /),
    );
  },
);

test("exits with 1 for a store that is damaged as a whole", async () => {
  const place = join(temporaryTree(), "sessions.sqlite");
  {
    await using store = await openStore(place);
    await store.append("one", { kind: "session" });
  }
  {
    using database = new DatabaseSync(place);
    database.exec("DROP TABLE record");
  }
  const { out, err, code } = await runSessionsCommand("ls", "--store", place);
  expect({ out, code }).toEqual({ out: "", code: 1 });
  expect(err).toMatch(/^error: .*sessions\.sqlite/);
});

test("refuses an empty place and a file that is no store", async () => {
  const empty = await runSessionsCommand("ls", "--store", "");
  expect(empty.err).toContain(
    'error: --store must be an existing folder, a SQLite file or a postgres:// URL, got "".',
  );
  const file = join(temporaryTree({ "notes.txt": "flour" }), "notes.txt");
  const { err, code } = await runSessionsCommand("ls", "--store", file);
  expect({ err, code }).toEqual({
    err: expect.stringContaining("--store must be a store of sessions, not a single file, got"),
    code: 1,
  });
});
