import { describe, expect, test } from "vitest";
import { RunModel } from "./run-model.ts";

interface PartialEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

const AT = Date.UTC(2026, 0, 1);

/** Builds the model of a session whose header is missing, with one event per second. */
function readEvents(...events: readonly PartialEvent[]): RunModel {
  const model = new RunModel();
  for (const [index, event] of events.entries()) {
    const createdAt = new Date(AT + index * 1_000).toISOString();
    model.add({ kind: "event", event: { promptName: "baker", createdAt, ...event } });
  }
  model.settle();
  return model;
}

const listTitles = (model: RunModel) =>
  model.entries.list().map(({ key, title, text }) => `${key} ${title}${text && `: ${text}`}`);

const rendered = { type: "PromptRendered", text: "# Bake", input: null };
const openTurn = (turn: number) => ({ type: "TurnStarted", turn });
const completeTurn = (turn: number, more: object = {}) => ({
  ...{ type: "TurnCompleted", turn, durationMs: 500, ...more },
});

describe("a prompt that is rendered while an evaluation has no end", () => {
  test.each([openTurn(1), completeTurn(1)])("begins a new evaluation before %j", (event) => {
    const model = readEvents(rendered, openTurn(1), rendered, event);
    expect(model.summarize("s", null).evaluations).toBe(2);
    expect(listTitles(model).slice(3)).toEqual([
      "2 baker",
      "n2 Prompt: 6 characters, 0 local and 0 hosted tools",
      "2.1 Turn 1",
    ]);
  });

  test.each([openTurn(2), completeTurn(2), { type: "PromptFailed", message: "Closed." }])(
    "belongs to that evaluation before %j",
    (event) => {
      const model = readEvents(rendered, openTurn(1), completeTurn(1), rendered, event);
      expect(model.summarize("s", null).evaluations).toBe(1);
      expect(listTitles(model)[3]).toMatch(/^n3 Prompt rendered again: /);
    },
  );
});

describe("a turn", () => {
  test("is shown once if it continues in the background", () => {
    const model = readEvents(rendered, openTurn(1), { type: "TurnSubmitted", turn: 1 });
    expect(listTitles(model).slice(2)).toEqual(["1.1 Turn 1: runs in the background"]);
  });

  test("without a duration starts at its only known time", () => {
    const model = readEvents(completeTurn(1, { durationMs: null }));
    expect(model.entries.get("1.1")).toMatchObject({ at: AT, ms: null });
    expect(model.entries.getPositions("1")).toEqual([]); // the session has no start of the evaluation
  });

  test("of an evaluation without input leaves it open", () => {
    const added = [
      { role: "user", content: [{ type: "input_image" }] },
      { role: "assistant", content: "Hello." },
    ];
    const model = readEvents(completeTurn(1), { type: "HistoryAdvanced", turn: 1, added });
    expect(model.summarize("s", null).input).toBeNull();
  });
});

describe("a call", () => {
  test("without a name or with broken arguments is shown as far as it is known", () => {
    const toolCalls = [{ callId: "a" }, { name: "bake", callId: "b", arguments: "{broken" }];
    const model = readEvents(rendered, completeTurn(1, { toolCalls }));
    expect(listTitles(model).slice(3)).toEqual([
      "1.1.1 call",
      expect.stringMatching(/^1\.1\.2 bake: .*\{broken/),
    ]);
  });

  test("that was rejected shows what the model gave", () => {
    const params = { rejected: true, given: { kind: 3 }, problem: "kind must be text" };
    const result = { success: false, message: "kind must be text" };
    const model = readEvents(rendered, completeTurn(1), { type: "ToolInvoked", params, result });
    expect(listTitles(model).at(-1)).toBe("1.1.1 call: kind: 3 → kind must be text");
  });

  test("at a provider without a container has the provider's name as its place", () => {
    const origin = { execution: "provider", provider: "openai", capability: "web_search" };
    const call = { type: "ToolInvoked", name: "search", result: { success: true }, origin };
    const model = readEvents(rendered, completeTurn(1), call);
    expect(model.entries.get("1.1.1")).toMatchObject({ place: "openai" });
  });

  test("of more than 200 tools counts, but its tool is not listed", () => {
    const calls = Array.from({ length: 203 }, (_, index) => ({
      ...{ type: "ToolInvoked", name: `tool-${Math.min(index, 201)}`, result: { success: true } },
    }));
    const summary = readEvents(rendered, completeTurn(1), ...calls).summarize("s", null);
    expect([summary.calls, summary.tools.length]).toEqual([203, 200]);
  });
});

describe("the files of a workspace", () => {
  const keep = (files: object, more: object = {}) => ({
    type: "WorkspaceKept",
    manifest: { section: "w", isComplete: true, files, ...more },
  });

  test("are compared with the mounted ones, without entries that are no files", () => {
    const mounted = { files: { "a.txt": { sha256: "1", bytes: 1 }, "b.txt": "?" } };
    const files = { "a.txt": { sha256: "2", bytes: 2 }, "c.txt": null };
    const model = readEvents(rendered, openTurn(1), keep(files, { mounted }));
    expect(model.summarize("s", null).files).toMatchObject([
      { path: "a.txt", change: "changed", bytesBefore: 1, bytesAfter: 2 },
    ]);
    expect(listTitles(model).at(-1)).toBe("n2 Workspace files changed: a.txt changed");
  });

  test("are listed up to 2,000 changes", () => {
    const paths = Array.from({ length: 2_001 }, (_, index) => `${index}.txt`);
    const files = Object.fromEntries(paths.map((path) => [path, { sha256: "1", bytes: 1 }]));
    const model = readEvents(rendered, keep(files, { mounted: { files: {} } }));
    expect(model.summarize("s", null).files).toHaveLength(2_000);
  });
});
