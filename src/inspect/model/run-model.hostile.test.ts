import { describe, expect, test } from "vitest";
import { RunModel } from "./run-model.ts";

describe("RunModel with hostile records", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`);
  const values: readonly unknown[] = [
    null,
    0,
    -1,
    Number.MAX_VALUE,
    "",
    "\u0000\u202e",
    "x".repeat(1_000_000),
    [],
    [null],
    {},
    deep,
    true,
    JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}'),
  ];
  const TYPES = [
    "EvaluationStarted",
    "PromptRendered",
    "TurnStarted",
    "TurnSubmitted",
    "TurnCompleted",
    "HistoryAdvanced",
    "ToolStarted",
    "ToolInvoked",
    "PromptExecuted",
    "PromptFailed",
    "WorkspaceKept",
    "WorkspaceSynced",
    "HistoryRepaired",
    "ContextCompacted",
    "ContainerReplaced",
    "Mine",
    "__proto__",
    "constructor",
  ];
  const FIELDS = [
    "createdAt",
    "promptName",
    "adapter",
    "nested",
    "turn",
    "text",
    "toolCalls",
    "hostedCalls",
    "delegatedCalls",
    "usage",
    "durationMs",
    "result",
    "params",
    "callId",
    "name",
    "manifest",
    "added",
    "messages",
    "tools",
    "citations",
    "origin",
    "egress",
    "dropped",
    "costUsd",
  ];

  test.each(TYPES)("accepts any value in any field of %s", (type) => {
    for (const value of values) {
      const model = new RunModel();
      for (const field of FIELDS) model.add({ kind: "event", event: { type, [field]: value } });
      model.add({
        kind: "event",
        event: { type, ...Object.fromEntries(FIELDS.map((field) => [field, value])) },
      });
      model.settle();
      for (const { text, title } of model.entries.list()) {
        expect(text.length).toBeLessThanOrEqual(240);
        expect(title.length).toBeLessThanOrEqual(120);
      }
      expect(() => JSON.stringify(model.summarize("s", null))).not.toThrow();
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test.each(["session", "event", "events", "restored", "loaded", "slice", "other"])(
    "accepts any value in records of the kind %s",
    (kind) => {
      for (const value of values) {
        const model = new RunModel();
        model.add(value);
        model.add({
          kind,
          event: value,
          events: value,
          to: value,
          states: value,
          tags: value,
          createdAt: value,
        });
        model.add({ kind, events: [value, { event: value }] });
        model.settle();
        expect(model.records).toBe(3);
        expect(() => JSON.stringify(model.summarize("s", null))).not.toThrow();
      }
    },
  );

  test("gives every entry its own key if turns repeat their numbers", () => {
    const model = new RunModel();
    const turn = { type: "TurnCompleted", turn: 1 };
    const started = { type: "EvaluationStarted" };
    for (const event of [started, turn, turn, turn, started, started])
      model.add({ kind: "event", event });
    const keys = model.entries.list().map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toContain("1.1~2");
  });

  test("undoes each event once, however many rollbacks there are", () => {
    const model = new RunModel();
    for (let n = 0; n < 20_000; n++) model.add({ kind: "event", event: { type: "Mine", n } });
    for (let n = 0; n < 20_000; n++) model.add({ kind: "restored", to: 0 });
    expect(model.entries.size).toBe(40_000);
  });

  test("stops at its limit of entries, and the summary names the limit", () => {
    const model = new RunModel();
    for (let n = 0; n < 200_001; n++) model.add({ kind: "event", event: { type: "Mine" } });
    expect(model.entries.size).toBe(200_000);
    expect(model.summarize("s", null).problem).toBe("Only the first 200,000 entries are shown.");
  });
});
