import { describe, expect, test } from "vitest";
import { SseReader } from "./sse-reader.ts";

type Seen = readonly [name: string, data: unknown];

/** Reads the pieces and returns every event with its data. */
function read(pieces: readonly (string | Uint8Array)[], maxBytes = 1_000_000): readonly Seen[] {
  const seen: Seen[] = [];
  const reader = new SseReader((name, data) => seen.push([name, data.parse()]), maxBytes);
  for (const piece of pieces) reader.push(typeof piece === "string" ? encode(piece) : piece);
  reader.end();
  return seen;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const lines = [
  ...[": a comment", ""],
  ...["event: response.created", 'data: {"type":"response.created","n":1}', ""],
  ...["event:response.delta", 'data:{"delta":"Zürich 🏔 \\r\\n"}', "id: 7", "retry: 10", ""],
  ...["event: response.delta", 'data: {"delta":', 'data: "two lines"}', ""],
  ...["event: nothing", ""],
  ...[": keep-alive", "", ""],
  ...['data: {"type": "response.typed"}', ""],
  ...["data: [DONE]", ""],
];

const expected: readonly Seen[] = [
  ["response.created", { type: "response.created", n: 1 }],
  ["response.delta", { delta: "Zürich 🏔 \r\n" }],
  ["response.delta", { delta: "two lines" }],
  ["response.typed", { type: "response.typed" }],
];

describe("SseReader", () => {
  const breaks = { LF: ["\n"], CRLF: ["\r\n"], CR: ["\r"], mixed: ["\n", "\r", "\r\n"] };

  describe.each(Object.entries(breaks))("with lines that end in %s", (_, ends) => {
    const text = lines.map((line, index) => line + ends[index % ends.length]).join("");
    const bytes = encode(text);

    test("reads every event of one chunk", () => {
      expect(read([bytes])).toEqual(expected);
    });

    test("reads the same events for every border between two chunks", () => {
      for (let at = 0; at <= bytes.length; at++) {
        expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
      }
    });

    test("reads the same events byte by byte", () => {
      expect(read([...bytes].map((byte) => new Uint8Array([byte])))).toEqual(expected);
    });
  });

  test("handles an event as soon as its blank line arrives, without the bytes after it", () => {
    const seen: string[] = [];
    const reader = new SseReader((name) => seen.push(name), 1_000);
    reader.push(encode("event: a\r\ndata: {}\r\n\r"));
    expect(seen).toEqual(["a"]);
    reader.push(encode("\nevent: b\r\ndata: {}\r\n\r\n"));
    expect(seen).toEqual(["a", "b"]);
  });

  describe("readDelta()", () => {
    const values = [
      "plain",
      "",
      'a "quoted" word',
      "back\\slash",
      "line\n",
      "Zürich 🏔",
      '"delta":"',
    ];
    const fields = { type: "d", item_id: "msg_1", output_index: 0, content_index: 0 };

    function readDeltas(events: readonly object[], chunkBytes: number) {
      const seen: unknown[] = [];
      const reader = new SseReader((_name, data) => seen.push(data.readDelta()), 1_000_000);
      const bytes = encode(
        events.map((event) => `event: d\ndata: ${JSON.stringify(event)}\n\n`).join(""),
      );
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        reader.push(bytes.subarray(at, at + chunkBytes));
      }
      return seen;
    }

    test.each([1, 7, 100, 10_000])("returns any text, in chunks of %d bytes", (chunkBytes) => {
      const events = values.map((delta) => ({ ...fields, delta, logprobs: [] }));
      expect(readDeltas(events, chunkBytes)).toEqual(values.map((delta) => ({ index: 0, delta })));
    });

    test("returns an index of several digits", () => {
      expect(readDeltas([{ ...fields, output_index: 12, delta: "a" }], 10_000)).toEqual([
        { index: 12, delta: "a" },
      ]);
    });

    test("returns no text and the first index for an event without them", () => {
      expect(readDeltas([{ type: "d" }, { ...fields, delta: null }], 10_000)).toEqual([
        { index: 0, delta: "" },
        { index: 0, delta: "" },
      ]);
    });
  });

  describe("readNumber()", () => {
    function readNumbers(events: readonly string[], chunkBytes: number) {
      const seen: unknown[] = [];
      const reader = new SseReader((_name, data) => seen.push(data.readNumber()), 1_000_000);
      const bytes = encode(events.map((data) => `event: d\n${data}\n\n`).join(""));
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        reader.push(bytes.subarray(at, at + chunkBytes));
      }
      return seen;
    }

    test.each([1, 7, 10_000])("returns the event's own number, in chunks of %d bytes", (size) => {
      const events: readonly (readonly [data: string, number: number | null])[] = [
        ['data: {"type":"d","sequence_number":7,"delta":"a"}', 7],
        ['data: {"type":"d","delta":"a","sequence_number":123456789}', 123_456_789],
        ['data: {"type":"d","sequence_number": 12}', 12],
        ['data: {"item":{"sequence_number":3},"sequence_number":8}', 8],
        ['data: {"delta":"{\\"sequence_number\\":3","sequence_number":9}', 9],
        ['data: {"delta":"\\"sequence_number\\":3","sequence_number":10}', 10],
        ['data: {"delta":"Zürich","sequence_number":11}', 11],
        ['data: {"type":"d",\ndata: "sequence_number":13}', 13],
        ['data: {"type":"d"}', null],
        ['data: {"sequence_number":null}', null],
        ['data: {"type":"d","sequence_number":14}', 14],
      ];
      const numbers = readNumbers(
        events.map(([data]) => data),
        size,
      );
      expect(numbers).toEqual(events.map(([, number]) => number));
    });
  });

  test("reads usual, other and repeated events in any order, for every border between two chunks", () => {
    const names = ["response.created", "response.output_text.delta", "response.output_text.delta"];
    const others = ["response.output_text.delta.x", "x", "x", "response.completed"];
    const events = [...names, ...others, ...names].map((name, n): Seen => [name, { n, text: "é" }]);
    const toText = ([name, data]: Seen) => `event: ${name}\ndata: ${JSON.stringify(data)}\n`;
    const text = events.map((event) => `${toText(event)}\n`).join("");
    const twoLines = `${toText(["response.created", 1])}data: 2\n\n`.replace(
      "data: 1",
      "data: [1,",
    );
    const bytes = encode(text + twoLines.replace("data: 2", "data: 2]"));
    const all = [...events, ["response.created", [1, 2]]];
    for (let at = 0; at <= bytes.length; at++) {
      expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(all);
    }
  });

  test("skips a byte order mark, also across chunks", () => {
    const bytes = encode('\uFEFFdata: {"type":"a"}\n\n');
    expect(read([bytes])).toEqual([["a", { type: "a" }]]);
    expect(read([bytes.subarray(0, 2), bytes.subarray(2)])).toEqual([["a", { type: "a" }]]);
  });

  test("reads the name from the data if the event has the default name or none", () => {
    expect(read(['event: message\ndata: {"type":"a"}\n\n'])).toEqual([["a", { type: "a" }]]);
    expect(read(['event:\ndata: { "type" : "a" }\n\n'])).toEqual([["a", { type: "a" }]]);
    const late = { sequence_number: 1, type: "a" };
    expect(read([`data: ${JSON.stringify(late)}\n\n`])).toEqual([["a", late]]);
  });

  test("ignores events without a name", () => {
    expect(read(['data: {"a":1}\n\n', "data: null\n\n", "data: []\n\n", "data: word\n\n"])).toEqual(
      [],
    );
  });

  test("does not parse an event whose data is not requested", () => {
    const seen: string[] = [];
    const reader = new SseReader((name) => seen.push(name), 1_000);
    reader.push(encode("event: a\ndata: {broken\n\n"));
    expect(seen).toEqual(["a"]);
  });

  test("keeps data that is parsed after later chunks", () => {
    const kept: (() => unknown)[] = [];
    const reader = new SseReader((_, data) => kept.push(data.keep()), 1_000_000);
    const chunks = [
      'event: a\ndata: {"n":',
      '1}\n\nevent: b\ndata: {"n":\ndata: 2}\n\n',
      "event: c",
    ];
    for (const chunk of chunks) {
      const bytes = encode(chunk);
      reader.push(bytes);
      bytes.fill(0); // a transport may reuse its buffer
    }
    reader.push(encode("x".repeat(10_000)));
    expect(kept.map((parse) => parse())).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("shows the beginning of the data without parsing it", () => {
    const heads: string[] = [];
    const reader = new SseReader((_, data) => heads.push(data.head()), 1_000_000);
    reader.push(encode(`event: a\ndata: ${"x".repeat(5_000)}\n\nevent: a\ndata: {}\n\n`));
    expect(heads).toEqual(["x".repeat(512), "{}"]);
  });

  test("reads an event of a megabyte in small chunks, in linear time", () => {
    const text = "ä".repeat(500_000);
    const bytes = encode(`event: a\ndata: ${JSON.stringify({ text })}\n\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 100) }, (_, index) =>
      bytes.subarray(index * 100, (index + 1) * 100),
    );
    const start = performance.now();
    expect(read(pieces, 2_000_000)).toEqual([["a", { text }]]);
    expect(performance.now() - start).toBeLessThan(5_000); // minutes if each chunk were copied with all before
  });

  test("throws if the body is longer than the limit, however it is split", () => {
    const event = 'event: a\ndata: {"a":1}\n\n';
    expect(read([event], event.length)).toHaveLength(1);
    expect(() => read([event, ":"], event.length)).toThrow(`more than ${event.length} bytes`);
    expect(() => read(["data: ", "x".repeat(100)], 50)).toThrow("more than 50 bytes");
  });

  test("reads a last event without a blank line, unless it was cut off", () => {
    expect(read(['event: a\ndata: {"a":1}'])).toEqual([["a", { a: 1 }]]);
    expect(read(['event: a\ndata: {"a":1}\n'])).toEqual([["a", { a: 1 }]]);
    expect(read(['event: a\ndata: {"a":'])).toEqual([]);
  });

  test("passes on what the handler throws", () => {
    const reader = new SseReader((_, data) => void data.parse(), 1_000);
    expect(() => reader.push(encode("event: a\ndata: {broken\n\n"))).toThrow(SyntaxError);
    const failing = new SseReader(() => {
      throw new Error("no");
    }, 1_000);
    failing.push(encode("event: a\ndata: {}\n"));
    expect(() => failing.end()).toThrow("no");
  });
});
