import { expect, test } from "vitest";
import { toUsage } from "../../base/usage.ts";
import type { RunEnded, WorkerEvent } from "../../fleet/worker/worker-event.ts";
import { formatWorkerEvent, WorkerPrinter } from "./worker-printer.ts";

const stamp = { worker: 3, createdAt: "2026-01-01T01:02:03.456Z" };
const run = { ...stamp, runId: "aaaaaaaa-0000-4000-8000-000000000000", loop: "review" };
const started: WorkerEvent = { type: "RunStarted", ...run, attempt: 1 };
const end = (fields: Partial<RunEnded>): RunEnded => ({
  ...{ type: "RunEnded", ...run, attempt: 1, outcome: "done", delayMs: null, approvals: [] },
  ...{ error: null, usage: null, durationMs: 5_200 },
  ...fields,
});
const error = { name: "ThrottleError", message: "too many\nrequests" };
const approval = { key: "k", callId: "c", params: {}, promptName: "p", sessionId: "s" };

test.each<[string, WorkerEvent]>([
  [
    "worker 3 started: review/3, pay/1, 4 at once",
    { type: "WorkerStarted", ...stamp, loops: ["review/3", "pay/1"], concurrency: 4 },
  ],
  ["worker 3 drains", { type: "WorkerDraining", ...stamp, running: 0 }],
  ["worker 3 drains: 2 runs to give back", { type: "WorkerDraining", ...stamp, running: 2 }],
  ["run aaaaaaaa review started", started],
  ["run aaaaaaaa review started (attempt 2)", { ...started, attempt: 2 }],
  ["run aaaaaaaa review done in 5.2s", end({})],
  [
    "run aaaaaaaa review done in 5.2s, 1,234 tokens",
    end({ usage: toUsage({ inputTokens: 1_200, outputTokens: 34 }) }),
  ],
  [
    "run aaaaaaaa review failed after 5.2s: ThrottleError: too many requests",
    end({ outcome: "failed", error }),
  ],
  [
    "run aaaaaaaa review dead-lettered after 5.2s: ThrottleError: too many requests",
    end({ outcome: "dead-lettered", error }),
  ],
  [
    "run aaaaaaaa review stopped after 5.2s, continues in 5s: ThrottleError: too many requests",
    end({ outcome: "retry", delayMs: 5_000, error }),
  ],
  [
    "run aaaaaaaa review paused for 2m: ThrottleError: too many requests",
    end({ outcome: "paused", delayMs: 120_000, error }),
  ],
  [
    "run aaaaaaaa review parked: waits for approval of charge, refund",
    end({
      outcome: "parked",
      approvals: [
        { ...approval, name: "charge" },
        { ...approval, name: "refund" },
      ],
    }),
  ],
  ["run aaaaaaaa review given back after 5.2s", end({ outcome: "given-back" })],
  ["run aaaaaaaa review cancelled after 5.2s", end({ outcome: "cancelled" })],
  ["run aaaaaaaa review lost after 5.2s: another attempt continues it", end({ outcome: "lost" })],
])("formats %s", (text, event) => {
  expect(formatWorkerEvent(event)).toBe(`2026-01-01T01:02:03Z ${text}`);
});

test("prints events below a line that shows what the worker does", () => {
  let text = "";
  const output = { writableLength: 0, isTTY: true, write: (more: string) => (text += more) };
  const printer = new WorkerPrinter(output, { json: false, terminal: output });
  printer.print({ type: "WorkerStarted", ...stamp, loops: ["review/3"], concurrency: 4 });
  printer.print(started);
  printer.print({ type: "WorkerDraining", ...stamp, running: 1 });
  printer.print(end({}));
  printer.end();
  const lines = text.split("\r\u001b[K").filter((part) => part !== "" && !part.endsWith("\n"));
  expect(lines).toEqual([
    "0 running",
    "1 running",
    "draining (press Ctrl-C to end at once), 1 running",
    "draining (press Ctrl-C to end at once), 0 running, 1 done",
  ]);
  expect(text.endsWith("\r\u001b[K")).toBe(true);
});

test.each([
  [true, [JSON.stringify({ omittedLines: 2 }), JSON.stringify(started)]],
  [false, ["(2 more lines: this output was not read in time)", formatWorkerEvent(started)]],
])("omits lines that are not read, and counts them (json: %s)", (json, expected) => {
  const lines: string[] = [];
  const output = { writableLength: 0, write: (line: string) => lines.push(line.trimEnd()) };
  const printer = new WorkerPrinter(output, { json, terminal: { write: () => {} } });
  output.writableLength = 2 * 1024 * 1024;
  printer.print(started);
  printer.print(end({}));
  output.writableLength = 0;
  printer.print(started);
  expect(lines).toEqual(expected);
});
