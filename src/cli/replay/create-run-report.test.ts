import { expect, test } from "vitest";
import type {
  RecordedBody,
  RecordedExchange,
  Recording,
} from "../../testing/cassette/recorded-exchange.ts";
import { createRunReport } from "./create-run-report.ts";

const header = {
  version: 1,
  recordedAt: "2026-01-01T00:00:00.000Z",
} as unknown as Recording["header"];

function record(
  ...parts: readonly { outcome: unknown; body?: RecordedBody; path?: string; method?: string }[]
) {
  const exchanges = parts.map(
    ({ outcome, body = null, path = "/responses", method = "POST" }, index) =>
      ({
        exchange: index + 1,
        atMs: index,
        request: { method, path, headers: {}, body },
        outcome,
      }) as unknown as RecordedExchange,
  );
  return createRunReport("run.jsonl", { header, exchanges, blobs: new Map() });
}

const respond = (value: object, more: object = {}) => ({
  response: {
    status: 200,
    headers: {},
    body: { text: JSON.stringify({ object: "response", ...value }) },
    chunks: [[2, 10]],
    ended: "complete",
    ...more,
  },
});

test("describes requests without a complete response", () => {
  const { exchanges, turns, answer } = record(
    { outcome: "canceled" },
    {
      outcome: { failure: { name: "TypeError", message: "fetch failed" } },
      body: { text: "hi" } as never,
    },
    { outcome: respond({}, { body: null, ended: "canceled", chunks: [] }) },
    { outcome: respond({}, { body: null, ended: { name: "Error", message: "reset" } }) },
  );
  expect(exchanges.map(({ problem }) => problem)).toEqual([
    "canceled",
    "failed: fetch failed",
    "canceled",
    "cut off: reset",
  ]);
  expect(exchanges.map(({ requestBytes }) => requestBytes)).toEqual([0, 2, 0, 0]);
  expect([turns, answer]).toEqual([[], null]);
});

test("describes refusals, custom calls, and responses without usage", () => {
  const { turns, usage, answer } = record({
    outcome: respond({
      id: "resp_1",
      model: "m",
      status: "completed",
      output: [
        { type: "custom_tool_call", name: "grep", input: "owl" },
        { type: "web_search_call" },
        { type: "message", content: [{ type: "refusal", refusal: "No." }] },
      ],
    }),
  });
  expect(turns).toMatchObject([
    {
      text: "No.",
      toolCalls: [{ name: "grep", arguments: "owl" }],
      hostedCalls: ["web_search"],
      usage: null,
    },
  ]);
  expect([usage, answer]).toEqual([{ inputTokens: 0, outputTokens: 0 }, "No."]);
});

test("counts tokens that are missing in a usage as none", () => {
  const response = { id: "resp_1", output: [], usage: { total_tokens: 3 } };
  expect(record({ outcome: respond(response) }).usage).toEqual({ inputTokens: 0, outputTokens: 0 });
});

test("lists the files of forms, and downloads that succeeded", () => {
  const file = { name: "file", filename: "a.txt", type: "text/plain", blob: "x", bytes: 3 };
  const form = { form: [{ name: "purpose", value: "user_data" }, file] };
  const download = { path: "/files/f/content", method: "GET" };
  const { files, exchanges } = record(
    { outcome: respond({}, { body: null }), path: "/files", body: form },
    { outcome: respond({}, { body: null }), ...download },
    { outcome: respond({}, { body: null, status: 404 }), ...download },
    { outcome: "unanswered", ...download },
    { outcome: "unanswered", path: "/x", body: { blob: "x", bytes: 7 } as never },
  );
  expect(files).toEqual({
    uploaded: [{ exchange: 1, name: "a.txt", bytes: 3 }],
    downloaded: [{ exchange: 2, name: "/files/f/content", bytes: 10 }],
  });
  expect(exchanges.map(({ requestBytes }) => requestBytes)).toEqual([12, 0, 0, 0, 7]);
});
