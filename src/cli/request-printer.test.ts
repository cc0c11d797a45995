import { describe, expect, test } from "vitest";
import type { RequestEntry } from "../local/http/request-entry.ts";
import { RequestPrinter } from "./request-printer.ts";

const entry: RequestEntry = {
  method: "POST",
  path: "/v1/responses",
  status: 200,
  elapsedMs: 12,
  isStream: false,
  outcome: "complete",
  usage: { inputTokens: 15, outputTokens: 7 },
  error: null,
};

function createPrinter(json = false) {
  const output = {
    writableLength: 0,
    text: "",
    write(text: string) {
      output.text += text;
    },
  };
  return { output, printer: new RequestPrinter(output, { json }) };
}

describe("RequestPrinter", () => {
  test.each<[Partial<RequestEntry>, string]>([
    [{}, "POST /v1/responses 200 12ms 15+7 tokens"],
    [{ isStream: true }, "POST /v1/responses 200 12ms stream 15+7 tokens"],
    [
      { isStream: true, outcome: "aborted", usage: null },
      "POST /v1/responses 200 12ms stream aborted",
    ],
    [{ status: null, outcome: "dropped", usage: null }, "POST /v1/responses - 12ms dropped"],
    [
      { method: "GET", path: "/v1/owls", status: 404, usage: null, error: "No \u001b[31mowls." },
      "GET /v1/owls 404 12ms No \\u{1b}[31mowls.",
    ],
  ])("prints %j as one line", (parts, line) => {
    const { output, printer } = createPrinter();
    printer.print({ ...entry, ...parts });
    expect(output.text).toBe(`${line}\n`);
  });

  test("prints JSON, one object per line", () => {
    const { output, printer } = createPrinter(true);
    printer.print(entry);
    expect(output.text).toBe(`${JSON.stringify({ request: entry })}\n`);
  });

  test("omits health checks", () => {
    const { output, printer } = createPrinter();
    printer.print({ ...entry, method: "HEAD", path: "/api/hello" });
    expect(output.text).toBe("");
  });

  test.each([
    [1, false, "(1 more request: this output was not read in time)"],
    [2, false, "(2 more requests: this output was not read in time)"],
    [2, true, '{"omittedRequests":2}'],
  ])(
    "omits %i lines that are not read, and prints their number (JSON: %s)",
    (count, json, line) => {
      const { output, printer } = createPrinter(json);
      output.writableLength = 2_000_000;
      for (let place = 0; place < count; place++) printer.print(entry);
      expect(output.text).toBe("");
      output.writableLength = 0;
      printer.print(entry);
      printer.print(entry);
      const lines = output.text.trimEnd().split("\n");
      expect(lines).toEqual([line, lines[1], lines[1]]);
    },
  );
});
