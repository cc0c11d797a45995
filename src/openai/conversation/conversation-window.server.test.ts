import { describe, expect, it } from "vitest";
import { sealedItem } from "../../../tests/support/compaction/routes.ts";
import { add, compacting } from "../../../tests/support/compaction/stage.ts";
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

describe("where the server compacts", () => {
  it("every request says from when on, and nothing else is asked", async () => {
    const at = await compacting([[add], [message("Three.")]], { adapter });
    await at.evaluate();
    const asked = [{ type: "compaction", compact_threshold: 1_000 }];
    expect(at.turns.map(({ body }) => body["context_management"])).toEqual([asked, asked]);
    expect([at.counts, at.compactions]).toEqual([[], []]);
    expect(at.session.get(compactionSlice)).toEqual(compactionSlice.initial);
  });

  it("what came before its item is dropped, and the next evaluation goes on from it", async () => {
    const last = [message("Three."), sealedItem(1)];
    const at = await compacting([[add], last, [message("Four.")], [message("Five.")]], { adapter });
    await at.evaluate();
    expect(at.session.get(historySlice)).toEqual([systemMessage, sealedItem(1)]);
    expect(at.session.get(compactionSlice)).toEqual({
      encryptedItems: [sealedItem(1)],
      window: [sealedItem(1)],
      lastCompactionTokens: 15,
      compactionCount: 1,
      model: "gpt-5.2",
    });
    expect(at.bus.of("CompactionKept")).toMatchObject([{ promptName: "test:run" }]);
    expect(at.bus.of("ContextCompacted")).toMatchObject([
      { strategy: "server", tokensBefore: 15, tokensAfter: null, usage: null, itemsAfter: 2 },
    ]);
    await at.evaluate();
    expect(at.turns[2]?.body["input"]).toEqual([systemMessage, sealedItem(1)]);
    await at.evaluate({ continue: true });
    expect(at.turns[3]?.body["input"]).toMatchObject([
      systemMessage,
      sealedItem(1),
      { role: "assistant" },
      systemMessage,
    ]);
  });

  it("a call after the item, or before it, stays with its output", async () => {
    const before = functionCall("add", { a: 1, b: 2 }, "call_before");
    const after = functionCall("add", { a: 1, b: 2 }, "call_after");
    const script = [[add], [before, sealedItem(1)], [sealedItem(2), after], [message("Three.")]];
    const at = await compacting(script, { adapter });
    await at.evaluate();
    const [, , third, fourth] = at.turns.map(({ body }) => body["input"]);
    expect(third).toMatchObject([
      systemMessage,
      { call_id: "call_before" },
      sealedItem(1),
      { type: "function_call_output", call_id: "call_before" },
    ]);
    expect(fourth).toMatchObject([
      systemMessage,
      sealedItem(2),
      { call_id: "call_after" },
      { type: "function_call_output", call_id: "call_after" },
    ]);
    expect(at.session.get(compactionSlice).compactionCount).toBe(2);
  });

  it("a client that cannot compact itself will do", async () => {
    const at = await compacting([[message("Three."), sealedItem(1)]], {
      adapter,
      client: (baseURL) => {
        const { responses, containers, files } = openAIClient({ apiKey: testKey, baseURL });
        return { client: { responses: { create: responses.create }, containers, files } };
      },
    });
    await at.evaluate();
    expect(at.session.get(compactionSlice).compactionCount).toBe(1);
  });
});
