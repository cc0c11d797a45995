import { describe, expect, test } from "vitest";
import {
  applyPatchCall,
  codeInterpreterCall,
  functionCall,
  imageGenerationCall,
  mcpCall,
  message,
  reasoning,
  refusal,
  shellCall,
  webSearchCall,
} from "../../../tests/support/wire-server.ts";
import { formatEvents, toStreamEvents } from "../../../tests/support/wire-stream.ts";
import type { ResponsePart, TurnObserver } from "../../adapter/turn-observer.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { SseReader } from "../http/sse-reader.ts";
import type { WireItem } from "../wire.ts";
import type { SentTools } from "./default-calls.ts";
import { ResponseStream } from "./response-stream.ts";

interface Options {
  readonly wantsParts?: boolean;
  readonly entries?: SentTools;
}

/** Reads the events and records the observer's calls. */
function observe(
  events: readonly (WireItem | string)[],
  { wantsParts = true, entries = new Map() }: Options = {},
) {
  const parts: ResponsePart[] = [];
  const statuses: string[] = [];
  const received: (readonly [number, string])[] = [];
  const observer: TurnObserver = {
    wantsParts,
    backlog: null,
    onPart: (part) => void parts.push(part),
    onReceived: (...chunk) => void received.push(chunk),
    onStatus: (last) => void statuses.push(last),
    onRestart: () => {},
  };
  const stream = new ResponseStream({ observer, turn: 2, getEntries: () => entries });
  const reader = new SseReader(stream.onEvent, 1_000_000);
  const bytes = new TextEncoder().encode(formatEvents(events));
  reader.push(bytes);
  void stream.onChunk(bytes.length);
  return { parts, statuses, received, stream, bytes };
}

/** Streams these items as a whole response. */
const respond = (...items: readonly WireItem[]) =>
  toStreamEvents({
    status: "completed",
    output: items.map((item, index) => ({ id: `item_${index}`, ...item })),
  });

const join = (parts: readonly ResponsePart[], type: ResponsePart["type"]) =>
  parts.map((part) => (part.type === type ? part.delta : "")).join("");

describe("the parts of a streamed response", () => {
  test("are the text and the reasoning summaries, in pieces", () => {
    const summary = [{ type: "summary_text", text: "First, I think. Then I think." }];
    const text = 'Hello,\n"world" \\ "🏔" – that is a text in several pieces.';
    const { parts } = observe(respond({ ...reasoning(), summary }, message(text)));
    expect(join(parts, "reasoning")).toBe("First, I think. Then I think.");
    expect(join(parts, "text")).toBe(text);
    expect(parts.filter(({ type }) => type === "text").length).toBeGreaterThan(3);
    expect(new Set(parts.map(({ turn }) => turn))).toEqual(new Set([2]));
  });

  test("are a refusal's text if there is no other text", () => {
    expect(join(observe(respond(refusal("I would rather not."))).parts, "text")).toBe(
      "I would rather not.",
    );
    const both = observe(respond(message("A text."), refusal("No."))).parts;
    expect(join(both, "text")).toBe("A text.");
  });

  test("are a function call's name, then its arguments", () => {
    const args = JSON.stringify({ a: 1, note: 'a "quoted" line\n' });
    const { parts, statuses } = observe(respond(functionCall("add", args, "call_9")));
    expect(parts[0]).toEqual({
      type: "toolCall",
      turn: 2,
      callId: "call_9",
      name: "add",
      delta: "",
    });
    expect(join(parts, "toolCall")).toBe(args);
    expect(parts.length).toBeGreaterThan(3);
    expect(statuses).toEqual([]);
  });

  test("are a hosted call's statuses, each once", () => {
    const { parts, statuses } = observe(respond(webSearchCall("owls")));
    const call = { type: "hostedCall", turn: 2, callId: "item_0", kind: "web_search" };
    expect(parts).toEqual([
      { ...call, status: "in_progress" },
      { ...call, status: "searching" },
      { ...call, status: "completed" },
    ]);
    expect(statuses).toEqual([
      "response.output_item.added",
      "response.web_search_call.searching",
      "response.output_item.done",
    ]);
  });

  test.each([
    ["code", codeInterpreterCall("print(6 * 7)"), "print(6 * 7)"],
    ["commands, whose events have no item id", shellCall(["ls -la /tmp", "pwd"]), "ls -la /tmppwd"],
    ["arguments", mcpCall("add", { a: 1 }, "1"), '{"a":1}'],
    ["patch", applyPatchCall({ type: "update_file", path: "a", diff: "@@\n-a\n+b" }), "@@\n-a\n+b"],
  ] as const)("are a hosted call's %s", (_, item, expected) => {
    const { parts } = observe(respond(message("Now."), { call_id: "call_7", ...item }));
    const calls = parts.filter((part) => part.type === "hostedCall");
    expect(calls.map(({ delta = "" }) => delta).join("")).toBe(expected);
    expect(new Set(calls.map(({ callId }) => callId))).toEqual(new Set(["call_7"]));
    expect(calls.at(0)?.status).toBe("in_progress");
    expect(calls.at(-1)?.status).toBe("completed");
  });

  test("have the kind of the tool that was offered, otherwise of the item", () => {
    const tool = new HostedTool({
      kind: "drawing",
      name: "draw",
      description: "Draws.",
      config: {},
    });
    const entries = new Map([[tool, { type: "image_generation" }]]);
    const events = respond(imageGenerationCall(null), { type: "dice_call", status: "completed" });
    const kinds = observe(events, { entries }).parts.map((part) => Object(part).kind);
    expect(new Set(kinds)).toEqual(new Set(["drawing", "dice"]));
  });

  test("are delivered from finished items if the server sends no pieces", () => {
    const events = respond(
      message("A text."),
      functionCall("add", { a: 1 }, "call_1"),
      webSearchCall(),
    );
    const done = events.filter(({ type }) => !/delta$|added$|_call\./.test(String(type)));
    const { parts } = observe(done);
    expect(join(parts, "text")).toBe("A text.");
    expect(join(parts, "toolCall")).toBe('{"a":1}');
    expect(parts.at(-1)).toMatchObject({ type: "hostedCall", status: "completed" });
  });

  test("of a call that was not announced begin with its first event", () => {
    const place = { output_index: 4, item_id: "ws_1" };
    const { parts } = observe([
      { type: "response.web_search_call.searching", ...place },
      { type: "response.web_search_call_query.delta", ...place, delta: "owls" },
      { type: "response.function_call_arguments.delta", output_index: 5, delta: "{}" },
    ]);
    const call = { type: "hostedCall", turn: 2, callId: "ws_1", kind: "web_search" };
    expect(parts).toEqual([
      { ...call, status: "searching" },
      { ...call, status: "searching", delta: "owls" },
    ]);
  });

  test("are not made of deltas that are not text, or of unknown events", () => {
    const added = {
      type: "response.output_item.added",
      output_index: 0,
      item: { type: "shell_call", call_id: "call_1", status: "in_progress" },
    };
    const { parts } = observe([
      added,
      { type: "response.shell_call_output_content.delta", output_index: 0, delta: { stdout: "x" } },
      { type: "response.shell_call_command.done", output_index: 0, command: "ls" },
      { type: "response.output_item.added", output_index: 1, item: null },
      { type: "response.unknown_thing.delta", delta: "x" },
    ]);
    expect(parts).toEqual([
      { type: "hostedCall", turn: 2, callId: "call_1", kind: "shell", status: "in_progress" },
    ]);
  });

  test("are read from events whose fields have another order or format", () => {
    const name = "event: response.output_text.delta\n";
    const { parts } = observe([
      `${name}data: {"delta": "spaced", "output_index": 0}\n\n`,
      `${name}data: {"delta":"\\\\\\"quoted\\\\","output_index":0,"type":"x"}\n\n`,
      `${name}data: {"output_index":0}\n\n`,
      `${name}data: []\n\n`,
    ]);
    expect(parts.map((part) => Object(part).delta)).toEqual(["spaced", '\\"quoted\\']);
  });
});

describe("a streamed response without a reader of its parts", () => {
  test("is not parsed, except for its last event", () => {
    const events = respond(message("A text."), codeInterpreterCall("print(1)")).map((event) =>
      /completed$|item/.test(String(event["type"]))
        ? event
        : `event: ${event["type"]}\ndata: {broken\n\n`,
    );
    const { parts, statuses, received, stream, bytes } = observe(events, { wantsParts: false });
    expect(parts).toEqual([]);
    expect(statuses).toEqual([
      "response.output_item.added",
      "response.code_interpreter_call.interpreting",
      "response.output_item.done",
    ]);
    expect(received).toEqual([[bytes.length, "response.completed"]]);
    expect(stream.finish()).toMatchObject({ status: "completed", output: [{}, {}] });
  });

  test("is complete after its last event, and ignores later ones", () => {
    const stream = new ResponseStream(null);
    const reader = new SseReader(stream.onEvent, 1_000_000);
    const push = (events: readonly WireItem[]) =>
      reader.push(new TextEncoder().encode(formatEvents(events)));
    const events = respond(message("A text."));
    push(events.slice(0, -1));
    expect(stream.isComplete).toBe(false);
    expect(() => stream.finish()).toThrow("ended before its last event");
    push(events.slice(-1));
    expect(stream.isComplete).toBe(true);
    push([{ type: "response.completed", response: { status: "completed", output: ["late"] } }]);
    expect(Object(stream.finish()).output).toMatchObject([{ type: "message" }]);
    expect(stream.onChunk(1)).toBeNull();
    expect(stream.isObserved).toBe(false);
  });

  test("has no items if their events are not objects", () => {
    const stream = new ResponseStream(null);
    const reader = new SseReader(stream.onEvent, 1_000_000);
    const done = "event: response.output_item.done\ndata: [1]\n\n";
    const last = { type: "response.incomplete", response: { status: "incomplete" } };
    reader.push(new TextEncoder().encode(done + formatEvents([last])));
    expect(stream.finish()).toEqual({ status: "incomplete", output: [{}] });
  });
});
