import { describe, expect, test } from "vitest";
import type { ResponsePart } from "../../adapter/turn-observer.ts";
import { type EventData, toSequenceNumber, toTextDelta } from "../http/sse-reader.ts";
import { ResponseParts } from "./response-parts.ts";

/** An event whose data is this value. */
function createData(value: unknown): EventData {
  const text = JSON.stringify(value);
  return {
    parse: () => value,
    keep: () => () => value,
    readDelta: () => toTextDelta(value),
    head: () => text.slice(0, 512),
    readNumber: () => toSequenceNumber(value),
  };
}

/** Reads events without a transport, and returns the parts. */
function readParts(events: readonly (readonly [name: string, value: unknown])[]) {
  const parts: ResponsePart[] = [];
  const observer = {
    wantsParts: true,
    backlog: null,
    onPart: (part: ResponsePart) => void parts.push(part),
    onReceived() {},
    onStatus() {},
    onRestart() {},
  };
  const reader = new ResponseParts({ observer, turn: 1, getEntries: () => new Map() });
  for (const [name, value] of events) {
    expect(reader.wants(name)).toBe(true);
    reader.onEvent(name, createData(value));
  }
  return parts;
}

const part = { type: "hostedCall", turn: 1, callId: "x_1", kind: "x" };

describe("the parts of events in unusual forms", () => {
  test("are empty for data that is not an object, and for items that are not calls", () => {
    const events = ["added", "done"].flatMap((ending) => [
      [`response.output_item.${ending}`, "text"] as const,
      [`response.output_item.${ending}`, { item: { type: "reasoning" } }] as const,
    ]);
    expect(readParts(events)).toEqual([]);
  });

  test("have a status for hosted calls whose items name none", () => {
    const item = { type: "x_call", id: "x_1" };
    const events = [
      ["response.output_item.added", { output_index: 0, item }],
      ["response.output_item.done", { output_index: 0, item }],
    ] as const;
    expect(readParts(events)).toEqual([
      { ...part, status: "in_progress" },
      { ...part, status: "completed" },
    ]);
  });

  test("include calls whose item was not added, except local calls, whose name is unknown", () => {
    const events = [
      ["response.x_call_code.delta", { output_index: 0, item_id: "x_1", delta: "1" }],
      ["response.x_call_code.done", { output_index: 0, item_id: "x_1", code: "1" }],
      ["response.function_call_arguments.delta", { output_index: 1, item_id: "f", delta: "{" }],
    ] as const;
    expect(readParts(events)).toEqual([{ ...part, status: "", delta: "1" }]);
  });
});
