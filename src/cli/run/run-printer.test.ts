import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { BusEvent } from "../../session/event-map.ts";
import { Session } from "../../session/session.ts";
import { RunPrinter } from "./run-printer.ts";

beforeEach(() => {
  vi.stubEnv("NO_COLOR", "1");
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const usage = { inputTokens: 1_200, outputTokens: 1, totalTokens: 1_201 };
const turn = {
  ...{ type: "TurnCompleted", turn: 2, toolCalls: [], hostedCalls: [] },
  ...{ usage, durationMs: 40 },
};
const call = {
  ...{ type: "ToolInvoked", name: "python", params: { code: "1" }, renderedOutput: "six" },
  ...{ result: { success: true, message: "OK" }, durationMs: 3 },
};

/** Publishes an event while a printer watches. Returns the printed text. */
function printEvent(event: object, { json = false, isTTY = true } = {}): string {
  let err = "";
  const output = { isTTY, writableLength: 0, write: (text: string) => (err += text) };
  const session = new Session();
  {
    using _watching = new RunPrinter(output, { json }).watch(session);
    session.bus.publish(event as BusEvent);
  }
  return err;
}

test.each([
  [turn, "turn 2 1,200 + 1 token, 40ms\n"],
  [{ ...turn, nested: true }, "  nested turn 2 1,200 + 1 token, 40ms\n"],
  [
    { ...turn, hostedCalls: [{ name: "web\nsearch" }], toolCalls: [{ name: "bake" }] },
    "turn 2 calls web search, bake 1,200 + 1 token, 40ms\n",
  ],
  [call, '  ✓ python {"code":"1"} here 3ms six\n'],
  [
    { ...call, result: { success: false, message: "It \u001b[31mfailed." } },
    '  ✗ python {"code":"1"} here 3ms It \\u{1b}[31mfailed.\n',
  ],
  [
    { ...call, durationMs: null, origin: { execution: "provider" } },
    '  ✓ python {"code":"1"} at the provider six\n',
  ],
  [
    { type: "ContainerReplaced", reason: "404\nexpired" },
    "  ✗ container lost and replaced: 404 expired\n",
  ],
  [{ type: "ContextCompacted", tokensBefore: 120_000 }, "  compacted from 120,000 tokens\n"],
  [
    { type: "HostedToolOmitted", name: "web_search", reason: "The model has none." },
    "  ✗ web_search omitted: The model has none.\n",
  ],
  [{ type: "PromptRendered" }, ""],
])("prints an event on a terminal: %j", (event, line) => {
  expect(printEvent(event)).toBe(line);
  expect(printEvent(event, { isTTY: false })).toBe("");
  expect(printEvent(event, { json: true })).toBe("");
});

test.each([
  [{ receivedBytes: 0, last: "" }, "turn 3 … 1.5s"],
  [{ receivedBytes: 2_048, last: "output_text.delta" }, "turn 3 … 1.5s, 2,048 bytes output_text"],
])("shows the progress of a turn on a terminal, and removes it: %j", (progress, text) => {
  const event = { type: "TurnProgressed", turn: 3, elapsedMs: 1_500, ...progress };
  const shown = printEvent(event);
  expect(shown).toContain(text);
  expect(shown.endsWith("\r\u001b[K")).toBe(true);
  expect(printEvent(event, { isTTY: false })).toBe("");
});
