import { describe, expect, test } from "vitest";
import { RunModel } from "./run-model.ts";

const stamp = { sessionId: "s", promptName: "baker", adapter: "openai" };
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const usage = (totalTokens: number) => ({
  inputTokens: totalTokens - 1,
  outputTokens: 1,
  totalTokens,
});

interface AnyEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Builds the model of a session with these events, each in its own record. */
function build(...events: readonly (AnyEvent | { readonly kind: string })[]): RunModel {
  const model = new RunModel();
  model.add({ n: 0, kind: "session", id: "s", createdAt: at(0), tags: { shop: "north" } });
  for (const [index, event] of events.entries()) {
    const isRecord = "kind" in event && !("type" in event);
    const stamped = { ...stamp, createdAt: at(index), ...event };
    model.add(
      isRecord ? { n: index + 1, ...event } : { n: index + 1, kind: "event", event: stamped },
    );
  }
  model.settle();
  return model;
}

/** The timeline as indented lines. */
function draw(model: RunModel): readonly string[] {
  const entries = model.entries.list();
  const lines: string[] = [];
  const addBelow = (parent: string | null, depth: number) => {
    for (const entry of entries.filter((one) => one.parent === parent)) {
      const mark = { ok: "✓", failed: "✗", open: "…", none: "-" }[entry.status];
      const undone = entry.isUndone ? " (undone)" : "";
      lines.push(
        `${"  ".repeat(depth)}${mark} ${entry.title}${entry.text && `: ${entry.text}`}${undone}`,
      );
      addBelow(entry.key, depth + 1);
    }
  };
  addBelow(null, 0);
  return lines;
}

const rendered = {
  type: "PromptRendered",
  text: "# Bake",
  messages: [],
  input: "Bread!",
  tools: [{}],
  hostedTools: [],
};
const started = { type: "EvaluationStarted", inputDigest: null, isResumed: false };
const call = (name: string, args: object, callId = name) => ({
  name,
  callId,
  arguments: JSON.stringify(args),
});
const turn = (number: number, more: object = {}): AnyEvent => ({
  ...{ type: "TurnCompleted", turn: number, text: "", toolCalls: [], hostedCalls: [] },
  ...{ usage: usage(10), durationMs: 500, model: "gpt", ...more },
});
const invoke = (name: string, success: boolean, more: object = {}): AnyEvent => ({
  ...{
    type: "ToolInvoked",
    name,
    callId: name,
    params: { kind: "rye" },
    renderedOutput: "",
    usage: null,
  },
  ...{
    result: { success, message: success ? "OK" : "Too many.", value: null },
    durationMs: 20,
    ...more,
  },
});
const answered = {
  type: "PromptExecuted",
  text: "Done.",
  usage: usage(20),
  finishReason: "stop",
  model: "gpt",
  turns: 2,
};

describe("RunModel", () => {
  test("shows a stored run: the prompt, turns, calls, and the rollback of a failed call", () => {
    const model = build(
      rendered,
      started,
      turn(1, { toolCalls: [call("bake", { kind: "rye" })], costUsd: 0.25 }),
      { type: "LoavesBaked", count: 42 },
      { kind: "restored", to: 4 } as { kind: string },
      invoke("bake", false),
      turn(2, { text: "Too many.", citations: [{ span: [0, 3], url: "https://a.example" }] }),
      answered,
    );
    expect(draw(model)).toEqual([
      "✓ baker: Bread!",
      "  - Prompt: 6 characters, 1 local and 0 hosted tools",
      "  ✓ Turn 1: calls bake",
      '    ✗ bake: kind: "rye" → Too many.',
      "      - LoavesBaked: count: 42 (undone)",
      "      - State rolled back: undone: LoavesBaked",
      "  ✓ Turn 2: Too many.",
    ]);
    const summary = model.summarize("s", null);
    expect(summary).toMatchObject({
      ...{
        state: "done",
        promptName: "baker",
        adapter: "openai",
        model: "gpt",
        tags: { shop: "north" },
      },
      ...{ evaluations: 1, turns: 2, calls: 1, failedCalls: 1, usd: 0.25, input: "Bread!" },
      usage: { totalTokens: 20 },
      answer: { isError: false, text: "Done.", citations: [{ url: "https://a.example" }] },
      tools: [{ name: "bake", calls: 1, failed: 1, ms: 20, place: "here" }],
      highlights: ["n5", "1.1.1"],
      prompt: { key: "n1", text: "# Bake" },
    });
    expect(model.entries.get("1.1")).toMatchObject({
      tokens: 10,
      usd: 0.25,
      ms: 500,
      at: Date.parse(at(2)) - 500,
    });
    expect(model.entries.getPositions("1.1.1")).toEqual([
      { n: 3, index: 0 },
      { n: 6, index: 0 },
    ]);
  });

  test("marks the events of a failed call as undone in a session that is not stored", () => {
    const model = build(
      { ...rendered, input: null },
      { type: "TurnStarted", turn: 1 },
      turn(1, { toolCalls: [call("bake", {})] }),
      { type: "LoavesBaked", count: 42 },
      invoke("bake", false),
    );
    expect(draw(model).at(-1)).toBe("      - LoavesBaked: count: 42 (undone)");
    expect(model.summarize("s", null).state).toBe("open");
  });

  test("shows running turns and calls as open", () => {
    const model = build(started, { type: "TurnStarted", turn: 1 });
    expect(draw(model)).toEqual(["… baker", "  … Turn 1"]);
    const submitted = build(started, { type: "TurnSubmitted", turn: 1, responseId: "r" });
    expect(draw(submitted)).toEqual(["… baker", "  … Turn 1: runs in the background"]);
    const calling = build(
      started,
      { type: "TurnStarted", turn: 1 },
      turn(1, { toolCalls: [call("bake", { a: 1 }), call("sell", {})] }),
      invoke("bake", true),
      { type: "ToolStarted", name: "sell", callId: "sell" },
    );
    expect(draw(calling).slice(2)).toEqual(['    ✓ bake: kind: "rye"', "    … sell"]);
  });

  test("names the place where the provider ran a call", () => {
    const origin = {
      execution: "provider",
      provider: "openai",
      capability: "code_interpreter",
      containerId: "cntr_1",
    };
    const hosted = {
      name: "python",
      kind: "code_interpreter",
      callId: "python",
      params: { code: "1" },
    };
    const model = build(
      started,
      turn(1, { hostedCalls: [hosted] }),
      invoke("python", true, { origin, durationMs: null }),
    );
    expect(model.entries.get("1.1.1")).toMatchObject({
      place: "openai cntr_1",
      ms: null,
      status: "ok",
    });
  });

  test("shows calls that the provider delegates, and calls that no turn announced", () => {
    const delegated = [
      {
        name: "apply_patch",
        kind: "apply_patch",
        callId: "apply_patch",
        params: { diff: "@@\n-a\n+b" },
      },
    ];
    const model = build(
      started,
      turn(1, { delegatedCalls: delegated }),
      invoke("apply_patch", true, {
        params: { diff: "@@\n-a\n+b" },
        result: { success: true, message: "Updated" },
      }),
      invoke("other", true, { durationMs: "long" }),
    );
    expect(draw(model).slice(2)).toEqual([
      "    ✓ apply_patch: Updated",
      '    ✓ other: kind: "rye"',
    ]);
    expect(model.entries.get("1.1.1")).toMatchObject({ place: "here" });
  });

  test("starts a new evaluation with its prompt, and continues a resumed evaluation", () => {
    const model = build(
      rendered,
      started,
      turn(1),
      answered,
      { ...rendered, input: "More!" },
      started,
      turn(1),
      rendered,
      { ...started, isResumed: true },
      turn(2),
      answered,
    );
    expect(draw(model)).toEqual([
      "✓ baker: Bread!",
      "  - Prompt: 6 characters, 1 local and 0 hosted tools",
      "  ✓ Turn 1",
      "✓ baker: Bread!",
      "  - Prompt: 6 characters, 1 local and 0 hosted tools",
      "  ✓ Turn 1",
      "  - Prompt rendered again: 6 characters, 1 local and 0 hosted tools",
      "  - Evaluation resumed",
      "  ✓ Turn 2",
    ]);
    expect(model.summarize("s", null)).toMatchObject({ evaluations: 2, turns: 3 });
  });

  test("nests the evaluation that a tool's handler started", () => {
    const nested = { nested: true, promptName: "taster" };
    const model = build(
      started,
      turn(1, { toolCalls: [call("taste", {})] }),
      { ...rendered, ...nested },
      { ...turn(1, { toolCalls: [call("chew", {})] }), ...nested },
      { ...invoke("chew", true), ...nested },
      { ...answered, ...nested },
      invoke("taste", true),
      answered,
    );
    expect(draw(model).map((line) => line.replace(/:.*/, ""))).toEqual([
      "✓ baker",
      "  ✓ Turn 1",
      "    ✓ taste",
      "      ✓ taster",
      "        - Prompt",
      "        ✓ Turn 1",
      "          ✓ chew",
    ]);
    expect(model.summarize("s", null)).toMatchObject({ turns: 1, calls: 1 });
  });

  test("reads the input from the conversation if the prompt is not stored", () => {
    const added = [
      { role: "user", content: [{ type: "input_text", text: "Rolls!" }] },
      { type: "message", role: "assistant" },
    ];
    const model = build(started, turn(1), { type: "HistoryAdvanced", turn: 1, kept: 0, added });
    expect(model.summarize("s", null).input).toBe("Rolls!");
    const claude = build(started, turn(1), {
      type: "HistoryAdvanced",
      added: [{ type: "user", message: { role: "user", content: "Buns!" } }],
    });
    expect(claude.summarize("s", null).input).toBe("Buns!");
  });

  test("shows failed and parked evaluations with their errors", () => {
    const failed = {
      type: "PromptFailed",
      errorName: "ThrottleError",
      message: "Slow down.",
      usage: usage(5),
      turns: 0,
    };
    expect(draw(build(started, failed))).toEqual(["✗ baker: Slow down."]);
    expect(build(started, failed).summarize("s", null)).toMatchObject({
      state: "failed",
      answer: { isError: true, text: "ThrottleError: Slow down." },
    });
    const parked = { ...failed, errorName: "EvaluationParkedError" };
    expect(build(started, parked).summarize("s", null).state).toBe("parked");
  });

  test("lists how the files of a workspace change from manifest to manifest", () => {
    const file = (sha256: string, bytes: number) => ({ sha256, bytes, mode: 0o644 });
    const keep = (manifest: object) => ({
      type: "WorkspaceKept",
      manifest: { section: "w", deleted: [], files: {}, ...manifest },
    });
    const model = build(
      started,
      keep({ isComplete: true, files: { a: file("1", 1), b: file("2", 2) } }),
      keep({ isComplete: false, files: { a: file("3", 3), c: file("4", 4) }, deleted: ["b"] }),
      keep({ isComplete: false }),
      {
        type: "WorkspaceSynced",
        directory: "/out",
        added: ["c"],
        changed: ["a"],
        deleted: ["b"],
        failed: [],
        conflicts: [{ path: "d", reason: "r" }],
      },
    );
    expect(draw(model)).toEqual([
      "… baker",
      "  - Workspace files kept: as they were mounted",
      "  - Workspace files changed: a changed, c added, b deleted",
      "  - Workspace files kept: no changes",
      "- Files copied back: 1 added, 1 changed, 1 deleted, 1 not copied, to /out",
    ]);
    const changes = [
      { path: "a", change: "changed", before: "1", after: "3", bytesBefore: 1, bytesAfter: 3 },
      { path: "c", change: "added", before: null, after: "4", bytesBefore: null, bytesAfter: 4 },
      { path: "b", change: "deleted", before: "2", after: null, bytesBefore: 2, bytesAfter: null },
    ];
    expect(model.entries.getFiles("n3")).toEqual(changes);
    expect(model.summarize("s", null).files).toEqual(changes);
  });

  test("uses the copied files if there is no manifest", () => {
    const model = build(started, {
      type: "WorkspaceSynced",
      directory: "/out",
      added: ["c"],
      changed: [],
      deleted: [],
    });
    expect(model.summarize("s", null).files).toMatchObject([
      { path: "c", change: "added", before: null },
    ]);
  });

  test("shows loaded states, and ignores progress", () => {
    const model = build(
      { kind: "loaded", states: { a: 1, b: 2 } } as { kind: string },
      { type: "TurnProgressed" },
      { type: "WorkspaceProgressed" },
    );
    expect(draw(model)).toEqual(["- States loaded: a, b"]);
    expect(model.summarize("s", "It is damaged.")).toMatchObject({
      state: "empty",
      problem: "It is damaged.",
      records: 4,
    });
  });

  test("joins the reports of what evaluations have sent, and adds each to its evaluation", () => {
    const report = (verdict: string, fields = {}) => {
      const egress = { requests: [{ endpoint: "POST /responses", bytes: 3 }], verdict };
      return { type: "EgressReported", egress, ...fields };
    };
    const stored = "stored at the provider";
    const nested = { nested: true, promptName: "inner" };
    const model = build(
      ...[started, turn(1), { ...turn(1), ...nested }, { ...answered, ...nested }],
      ...[report(stored, nested), answered, report("nothing stored")],
    );
    const [first] = report(stored).egress.requests;
    expect(model.summarize("s", null).egress).toEqual({
      requests: [first, first],
      verdict: stored,
    });
    expect(model.entries.list().filter(({ type }) => type === "EgressReported")).toEqual([]);
    const inner = model.entries.list().find(({ title }) => title === "inner");
    expect(model.entries.getPositions(inner?.key ?? "").at(-1)).toEqual({ n: 5, index: 0 });
    expect(model.entries.getPositions("1").at(-1)).toEqual({ n: 7, index: 0 });
    expect(build(started).summarize("s", null).egress).toBeNull();
    expect(build(report(stored)).entries.size).toBe(0);
  });

  test("returns entries that have changed once", () => {
    const model = build(started, turn(1, { toolCalls: [call("bake", {})] }));
    expect(model.entries.takeChanges().map(({ key }) => key)).toEqual(["1", "1.1", "1.1.1"]);
    expect(model.entries.takeChanges()).toEqual([]);
    model.add({ kind: "event", event: { ...stamp, ...invoke("bake", true), createdAt: at(9) } });
    expect(model.entries.takeChanges()).toMatchObject([{ key: "1.1.1", status: "ok" }]);
  });
});
