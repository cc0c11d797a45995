import { describe, expect, it } from "vitest";
import { createEncryptedItem } from "../../../tests/support/compaction/compaction-routes.ts";
import { addCall, startCompactionRun } from "../../../tests/support/compaction/compaction-run.ts";
import { testKey } from "../../../tests/support/openai-clients.ts";
import { systemMessage } from "../../../tests/support/openai-run.ts";
import { functionCall, message } from "../../../tests/support/wire-server.ts";
import type { OpenAIAdapterOptions } from "../adapter-options.ts";
import { compactionSlice } from "../compaction/compaction-state.ts";
import { historySlice } from "../history/history-slice.ts";
import { openAIClient } from "../http/http-client.ts";

const adapter: Partial<OpenAIAdapterOptions> = {
  compaction: { strategy: "server", thresholdTokens: 1_000 },
};

describe('the strategy "server"', () => {
  it("sends the threshold with every request and no compaction requests", async () => {
    const run = await startCompactionRun([[addCall], [message("Three.")]], { adapter });
    await run.evaluate();
    const contextManagement = [{ type: "compaction", compact_threshold: 1_000 }];
    expect(run.turns.map(({ body }) => body["context_management"])).toEqual([
      contextManagement,
      contextManagement,
    ]);
    expect([run.counts, run.compactions]).toEqual([[], []]);
    expect(run.session.get(compactionSlice)).toEqual(compactionSlice.initial);
  });

  it("drops the items before the compaction and continues from it in the next evaluation", async () => {
    const last = [message("Three."), createEncryptedItem(1)];
    const run = await startCompactionRun(
      [[addCall], last, [message("Four.")], [message("Five.")]],
      { adapter },
    );
    await run.evaluate();
    expect(run.session.get(historySlice)).toEqual([systemMessage, createEncryptedItem(1)]);
    expect(run.session.get(compactionSlice)).toEqual({
      encryptedItems: [createEncryptedItem(1)],
      window: [createEncryptedItem(1)],
      lastCompactionTokens: 15,
      compactionCount: 1,
      model: "gpt-5.2",
    });
    expect(run.bus.of("CompactionKept")).toMatchObject([{ promptName: "test:run" }]);
    expect(run.bus.of("ContextCompacted")).toMatchObject([
      { strategy: "server", tokensBefore: 15, tokensAfter: null, usage: null, itemsAfter: 2 },
    ]);
    await run.evaluate();
    expect(run.turns[2]?.body["input"]).toEqual([systemMessage, createEncryptedItem(1)]);
    await run.evaluate({ continue: true });
    expect(run.turns[3]?.body["input"]).toMatchObject([
      systemMessage,
      createEncryptedItem(1),
      { role: "assistant" },
      systemMessage,
    ]);
  });

  it("keeps a call before or after the compaction with its output", async () => {
    const before = functionCall("add", { a: 1, b: 2 }, "call_before");
    const after = functionCall("add", { a: 1, b: 2 }, "call_after");
    const script = [
      [addCall],
      [before, createEncryptedItem(1)],
      [createEncryptedItem(2), after],
      [message("Three.")],
    ];
    const run = await startCompactionRun(script, { adapter });
    await run.evaluate();
    const [, , third, fourth] = run.turns.map(({ body }) => body["input"]);
    expect(third).toMatchObject([
      systemMessage,
      { call_id: "call_before" },
      createEncryptedItem(1),
      { type: "function_call_output", call_id: "call_before" },
    ]);
    expect(fourth).toMatchObject([
      systemMessage,
      createEncryptedItem(2),
      { call_id: "call_after" },
      { type: "function_call_output", call_id: "call_after" },
    ]);
    expect(run.session.get(compactionSlice).compactionCount).toBe(2);
  });

  it("works with a client that cannot compact", async () => {
    const run = await startCompactionRun([[message("Three."), createEncryptedItem(1)]], {
      adapter,
      client: (baseURL) => {
        const { responses, containers, files } = openAIClient({ apiKey: testKey, baseURL });
        return { client: { responses: { create: responses.create }, containers, files } };
      },
    });
    await run.evaluate();
    expect(run.session.get(compactionSlice).compactionCount).toBe(1);
  });
});
