import { join } from "node:path";
import { expect, test } from "vitest";
import { runSessionsCommand } from "../../../tests/support/cli/run-sessions-command.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";

const CREATED_AT = "2026-01-31T12:00:00.000Z";
const stamp = { promptName: "shop:baker", adapter: "openai", createdAt: CREATED_AT };

/** Stores events as one session, and shows it. */
async function showEvents(events: readonly object[], ...flags: readonly string[]): Promise<string> {
  const records = events.map((event) => ({ kind: "event", event: { ...stamp, ...event } }));
  return await showRecords([{ kind: "session", createdAt: CREATED_AT }, ...records], ...flags);
}

async function showRecords(
  records: readonly object[],
  ...flags: readonly string[]
): Promise<string> {
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  const store = join(temporaryTree({ "sessions/one.jsonl": text }), "sessions");
  const { out, err, code } = await runSessionsCommand("show", "one", "--store", store, ...flags);
  expect({ err, code }).toEqual({ err: "", code: 0 });
  return out;
}

const rendered = { type: "PromptRendered", text: "Bake.", input: "Bread!" };
const completeTurn = (turn: number, costUsd: number) => ({
  ...{ type: "TurnCompleted", turn, durationMs: 20, costUsd },
  usage: { inputTokens: 1_000, cachedTokens: 400, outputTokens: 50, totalTokens: 1_050 },
});

test("shows the cost and the cached tokens of a session", async () => {
  const out = await showEvents([rendered, completeTurn(1, 0.0125)]);
  expect(out).toContain("  tokens   1,000 input (400 cached), 50 output\n");
  expect(out).toContain("  cost     $0.0125\n");
  expect(out).toMatch(/ Turn 1 {2}\(20ms, 1,050 tokens, \$0\.0125\)/);
});

test("shows amounts from one dollar on in cents", async () => {
  const out = await showEvents([rendered, completeTurn(1, 1.25), completeTurn(2, 2)]);
  expect(out).toContain("  cost     $3.25\n");
});

test("omits the facts that a session does not have", async () => {
  const out = await showRecords([{ kind: "event", event: { type: "Rang" } }]);
  expect(out).toMatch(
    /^Session one\n {2}state +empty\n {2}started +not known\n {2}last +not known\n/,
  );
  expect(out).toContain("  cost     not known\n");
  expect(out).not.toContain("tags");
});

test("explains that a session without an end runs or was interrupted", async () => {
  const out = await showEvents([rendered]);
  expect(out).toContain("state    open (the last evaluation has no end: it runs, or was interr");
});

test("explains that a parked session waits for approval, and shows the error", async () => {
  const failure = { type: "PromptFailed", errorName: "EvaluationParkedError", message: "1 call" };
  const out = await showEvents([rendered, failure]);
  expect(out).toContain("  state    parked (a call waits for approval)\n");
  expect(out).toContain("\nError\n  EvaluationParkedError: 1 call\n");
});

test("lists changed files with their sizes", async () => {
  const manifest = {
    section: "workspace",
    isComplete: true,
    files: { "new.txt": { sha256: "a", bytes: 1_200 }, "same.txt": { sha256: "b", bytes: 1 } },
    mounted: { files: { "old.txt": { sha256: "c", bytes: 3 }, "same.txt": { sha256: "b" } } },
  };
  const out = await showEvents([rendered, { type: "WorkspaceKept", manifest }]);
  expect(out).toContain("\nChanged files\n  added   new.txt (1,200 bytes)\n  deleted old.txt\n");
});

test("shortens long lists of files and notices", async () => {
  const added = Array.from({ length: 53 }, (_, index) => `file-${index}`);
  const synced = { type: "WorkspaceSynced", directory: "/out", added };
  const omitted = { type: "HostedToolOmitted", name: "search", reason: "" };
  const out = await showEvents([rendered, synced, ...Array(52).fill(omitted)]);
  expect(out).toContain("  added   file-49\n  … and 3 more (use --json to list all)\n");
  expect(out).not.toContain("file-50");
  const [, notices = ""] = out.split("\nNotices\n");
  expect(notices.split("\n").filter((line) => line === "  Tool omitted: search")).toHaveLength(50);
  expect(notices).toContain("  … and 2 more (use --json to list all)\n");
});

test("shortens a timeline with many entries, and lists all with --json", async () => {
  const events = Array.from({ length: 503 }, (_, index) => ({ type: "Rang", index }));
  const out = await showEvents(events);
  expect(out.match(/ {2}Rang {2}/g)).toHaveLength(500);
  expect(out).toContain("\n  … and 3 more (use --json to list all)\n");
  const document = JSON.parse(await showEvents(events, "--json"));
  expect(document).toMatchObject({ records: 504, prompt: null, input: null, answer: null });
  expect(document.entries).toHaveLength(503);
});
