import { performance } from "node:perf_hooks";
import { expect, test } from "vitest";
import { defineSlice, Session, ToolResult, toolLog } from "../src/index.ts";
import { storedSession } from "../src/session/stored-session.ts";
import { openStormStore, type StormStore } from "./support/storm/storm-store.ts";
import { temporaryTree } from "./support/temporary-tree.ts";

const RECORDS = 10_000;
const LIMIT_MS = 1_000;
const ROUNDS = 5;

const answers = defineSlice("test.answers", {
  initial: { count: 0, last: "" },
  on: { ToolInvoked: ({ count }, { callId }) => ({ count: count + 1, last: callId }) },
});

/** Dispatches the result of a tool call, of about the size that reading a page of a file has. */
function invokeTool(session: Session, call: number): void {
  const text = `${call}: ${"const x = 1;\n".repeat(50)}`;
  session.dispatch({
    type: "ToolInvoked",
    sessionId: session.id,
    promptName: "test/reader",
    adapter: "test",
    name: "read_file",
    callId: `call_${call}`,
    params: { path: `src/module-${call}.ts`, offset: 0, limit: 40 },
    result: ToolResult.ok(null, text),
    renderedOutput: text,
    usage: null,
    durationMs: 12,
    createdAt: new Date(call).toISOString(),
  });
}

const kinds: readonly StormStore[] = ["jsonl", "sqlite"];

test.each(kinds)(
  "a session of 10,000 records in %s opens within a second, with and without a checkpoint",
  { timeout: 300_000 },
  async (kind) => {
    const { store, close } = await openStormStore(kind, temporaryTree());
    const session = new Session({ store, id: "long" }).register(toolLog).register(answers);
    const claim = await session[storedSession]?.claim();
    for (let call = 3; call < RECORDS; call++) {
      invokeTool(session, call);
      if (call % 1_000 === 0) await session.flush();
      if (call === 8_000) await session[storedSession]?.checkpointIfDue();
    }
    await session.flush();
    await claim?.[Symbol.asyncDispose]();
    const checkpoint = await store.readCheckpoint?.("long");
    expect(checkpoint).toMatchObject({ records: 8_001 });

    const expected = session.serialize();
    const measure = async () => {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const start = performance.now();
        const opened = await Session.open(store, "long", [answers]);
        times.push(performance.now() - start);
        expect(opened.get(answers)).toEqual({ count: RECORDS - 3, last: `call_${RECORDS - 1}` });
        if (round === 0) expect(opened.serialize()).toBe(expected);
      }
      return Math.min(...times); // a busy machine only adds to it
    };
    const withCheckpoint = await measure();
    store.readCheckpoint = async () => null;
    const without = await measure();
    await close();
    expect(Math.max(withCheckpoint, without)).toBeLessThanOrEqual(LIMIT_MS);
  },
);
