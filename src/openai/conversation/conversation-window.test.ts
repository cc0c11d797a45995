import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createEncryptedItem } from "../../../tests/support/compaction/compaction-routes.ts";
import {
  addCall,
  answerTurn,
  callTurn,
  startCompactionRun,
} from "../../../tests/support/compaction/compaction-run.ts";
import { getConversationItems } from "../../../tests/support/faults/fault-setup.ts";
import { clients } from "../../../tests/support/openai-clients.ts";
import { systemMessage } from "../../../tests/support/openai-run.ts";
import { message } from "../../../tests/support/wire-server.ts";
import { compactionSlice } from "../compaction/compaction-state.ts";
import { historySlice } from "../history/history-slice.ts";

describe("ConversationWindow", () => {
  it.each(clients)("compacts only above the threshold, on %s", async (_name, client) => {
    for (const tokens of [50, 51]) {
      const run = await startCompactionRun([[addCall], [message("Three.")]], { tokens, client });
      const response = await run.evaluate();
      expect(response.text).toBe("Three.");
      expect(run.compactions.length > 0).toBe(tokens > 50);
    }
  });

  it("compacts everything except the prompt and continues from the window", async () => {
    const run = await startCompactionRun([[addCall], [message("Three.")]], {
      tokens: (nth) => (nth === 1 ? 51 : 50),
    });
    await run.evaluate();
    expect(run.compactions.map(({ body }) => body)).toEqual([
      {
        model: "gpt-5.2",
        instructions: systemMessage.content,
        input: [
          expect.objectContaining({ type: "function_call", name: "add" }),
          { type: "function_call_output", call_id: "call_1", output: "3" },
        ],
      },
    ]);
    expect(run.turns[1]?.body["input"]).toEqual([systemMessage, createEncryptedItem(1)]);
    expect(run.session.get(historySlice)).toEqual([
      systemMessage,
      createEncryptedItem(1),
      expect.objectContaining({ role: "assistant" }),
    ]);
  });

  it("counts tokens at the provider with the fields of the request", async () => {
    const run = await startCompactionRun([[addCall], [message("Three.")]], { tokens: 50 });
    await run.evaluate();
    const { model, tools, tool_choice, input } = Object(run.turns[1]?.body);
    expect(run.counts[0]?.body).toEqual({ model, tools, tool_choice, input });
  });

  it("does not count tokens while the conversation cannot exceed the threshold", async () => {
    const run = await startCompactionRun([[addCall], [message("Three.")]], {
      adapter: { compaction: { thresholdTokens: 100_000 } },
    });
    await run.evaluate();
    expect([run.counts, run.compactions]).toEqual([[], []]);
  });

  it.each([null, { enabled: false, thresholdTokens: 1 }])(
    "does not compact with %j",
    async (compaction) => {
      const run = await startCompactionRun([callTurn, answerTurn, answerTurn], {
        adapter: { compaction },
      });
      await run.evaluate();
      await run.evaluate();
      expect([run.counts, run.compactions]).toEqual([[], []]);
    },
  );

  it("does not compact a conversation that has only input", async () => {
    const run = await startCompactionRun([[message("Three.")]], { tokens: 51 });
    await run.evaluate();
    expect([run.counts, run.compactions]).toEqual([[], []]);
  });

  it("compacts after the last answer, for the next evaluation", async () => {
    const run = await startCompactionRun([callTurn, answerTurn, [message("Four.")]], {
      tokens: (nth) => (nth === 2 ? 51 : 50),
    });
    await run.evaluate();
    expect(run.compactions).toHaveLength(1);
    expect(run.session.get(compactionSlice)).toMatchObject({ compactionCount: 1 });
    expect(run.session.get(historySlice)).toEqual([systemMessage, createEncryptedItem(1)]);
    await run.evaluate();
    expect(run.turns[2]?.body["input"]).toEqual([systemMessage, createEncryptedItem(1)]);
  });

  it("sends the window once when a conversation continues", async () => {
    const run = await startCompactionRun([callTurn, answerTurn, [message("Four.")]], {
      tokens: (nth) => (nth === 2 ? 51 : 50),
    });
    await run.evaluate();
    await run.evaluate({ continue: true });
    expect(run.turns[2]?.body["input"]).toEqual([
      systemMessage,
      createEncryptedItem(1),
      systemMessage,
    ]);
  });

  it("does not compact again until there are new items", async () => {
    const run = await startCompactionRun([callTurn, callTurn, answerTurn, answerTurn], {
      tokens: 51,
    });
    await run.evaluate();
    // Before both requests with new items, and after the answer.
    expect(run.compactions).toHaveLength(3);
    await run.evaluate();
    expect(run.turns).toHaveLength(4);
    expect(run.compactions[3]?.body["input"]).toMatchObject([
      createEncryptedItem(3),
      { role: "assistant" },
    ]);
    expect(run.compactions).toHaveLength(4); // after the answer, which is new
  });

  it("adds the usage of compactions to the evaluation's usage", async () => {
    const run = await startCompactionRun([callTurn, answerTurn], { tokens: 51 });
    const { usage: total } = await run.evaluate();
    expect(run.compactions).toHaveLength(2);
    expect(total.totalTokens).toBe(60 + 60 + 2 * 100);
    // The second compaction follows the last turn.
    expect(run.bus.of("TurnCompleted").map((event) => event.usage.totalTokens)).toEqual([60, 160]);
    expect(run.bus.of("PromptExecuted")).toMatchObject([{ usage: total }]);
  });

  it("publishes ContextCompacted with counts and no content", async () => {
    const run = await startCompactionRun([callTurn, answerTurn], {
      tokens: (nth) => (nth === 1 ? 51 : 50),
    });
    await run.evaluate();
    const events = run.bus.of("ContextCompacted");
    expect(events).toMatchObject([
      {
        tokensBefore: 51,
        tokensAfter: 10,
        strategy: "endpoint",
        itemsBefore: 3,
        itemsAfter: 2,
        encryptedLength: "sealed 1".length,
        promptName: "test:run",
        usage: { totalTokens: 100 },
      },
    ]);
    expect(JSON.stringify(events)).not.toContain("sealed");
  });

  it("prints no encrypted content in events, state and logs", async () => {
    const run = await startCompactionRun([callTurn, answerTurn], { tokens: 51 });
    await run.evaluate();
    const state = [run.session.get(compactionSlice), run.session.get(historySlice)];
    const shown = inspect([run.bus.events, state, run.logged], {
      depth: 20,
      maxArrayLength: 1_000,
    });
    expect(shown).toContain("encrypted_content: '[8 characters]'");
    expect(shown).not.toMatch(/sealed \d/);
    expect(JSON.stringify(run.bus.of("HistoryAdvanced"))).toContain("sealed 2");
  });

  it("uses the last usage if the provider cannot count tokens", async () => {
    const missing = { status: 404, error: { message: "Invalid URL." } };
    const run = await startCompactionRun([callTurn, [message("Three.")]], {
      tokens: () => missing,
    });
    await run.evaluate();
    expect(run.compactions).toHaveLength(1);
    expect(run.bus.of("ContextCompacted")).toMatchObject([{ tokensBefore: 60 }]);
  });
});

it("a conversation without any token count is not compacted", async () => {
  const missing = { status: 404, error: { message: "Invalid URL." } };
  const run = await startCompactionRun([[message("Three.")], [message("Four.")]], {
    tokens: () => missing,
  });
  await run.evaluate();
  await run.evaluate({ continue: true });
  expect([run.counts.length, run.compactions.length]).toEqual([1, 0]);
});

describe("a conversation in a tool handler", () => {
  it.each(["endpoint", "server"] as const)(
    "neither uses nor changes the session's window, with the strategy %s",
    async (strategy) => {
      const compaction = { strategy, thresholdTokens: strategy === "server" ? 1_000 : 50 };
      const ends =
        strategy === "server" ? [message("Three."), createEncryptedItem(9)] : answerTurn.output;
      const inner = { ...answerTurn, output: ends };
      const isInner = (turn: number) => turn === 3 || turn === 4;
      let turn = 0;
      const run = await startCompactionRun(
        // The first evaluation ends. The second calls a tool, whose handler runs the third one.
        () => [inner, callTurn, callTurn, inner, [message("Four.")]][turn++] ?? [message("Late.")],
        {
          tokens: () => (strategy === "endpoint" ? 51 : 1),
          adapter: { compaction },
          onAdd: async () => {
            if (turn === 2) await run.evaluate();
          },
        },
      );
      await run.evaluate();
      await run.evaluate();
      const [, second, third] = run.turns.map(({ body }) => JSON.stringify(body["input"]));
      expect(second).toContain("sealed");
      expect(third).not.toContain("sealed");
      expect(run.turns.filter((_turn, index) => isInner(index + 1))).toHaveLength(2);
      const kept = run.bus.of("CompactionKept").length;
      expect(run.bus.of("ContextCompacted").length).toBeGreaterThan(kept);
      expect(run.session.get(compactionSlice).compactionCount).toBe(kept);
    },
  );
});

describe("a compacted window", () => {
  it("is discarded for another model, with an event", async () => {
    const first = await startCompactionRun([callTurn, answerTurn], { tokens: 51 });
    await first.evaluate();
    const { session } = first;
    const { compactionCount } = session.get(compactionSlice);
    const discarded: object[] = [];
    session.bus.subscribe("CompactionDiscarded", (event) => discarded.push(event));
    const next = await startCompactionRun([[message("Four.")], [message("Five.")]], {
      session,
      tokens: 50,
      adapter: { model: "gpt-6" },
    });
    await next.evaluate();
    expect(next.turns[0]?.body["input"]).toEqual([systemMessage]);
    expect(discarded).toMatchObject([
      { reason: 'it was compacted for the model "gpt-5.2", but the model is now "gpt-6"' },
    ]);
    expect(session.get(compactionSlice)).toEqual({ ...compactionSlice.initial, compactionCount });
  });

  it("is dropped for another model when a conversation continues", async () => {
    const first = await startCompactionRun([callTurn, answerTurn], { tokens: 51 });
    await first.evaluate();
    const { session } = first;
    const repaired: object[] = [];
    session.bus.subscribe("HistoryRepaired", (event) => repaired.push(event));
    const next = await startCompactionRun([[message("Four.")]], {
      session,
      tokens: 50,
      adapter: { model: "gpt-6" },
    });
    await next.evaluate({ continue: true });
    expect(next.turns[0]?.body["input"]).toEqual([systemMessage]);
    expect(repaired).toMatchObject([{ dropped: [{ type: "compaction", id: "cmp_2" }] }]);
  });

  it("is restored with a session snapshot, and the next evaluation uses it", async () => {
    const script = [callTurn, answerTurn, [addCall], [message("Four.")], [message("Five.")]];
    const run = await startCompactionRun([...script, [message("Six.")]], {
      tokens: (nth) => (nth === 1 || nth === 3 ? 51 : 50),
    });
    await run.evaluate();
    const before = run.session.snapshot();
    expect(run.session.get(compactionSlice)).toMatchObject({ compactionCount: 1 });
    await run.evaluate();
    expect(run.session.get(compactionSlice)).toMatchObject({ window: [createEncryptedItem(2)] });
    run.session.restore(before);
    expect(run.session.get(compactionSlice)).toMatchObject({ compactionCount: 1 });
    await run.evaluate();
    expect(run.turns[4]?.body["input"]).toEqual([systemMessage, createEncryptedItem(1)]);
    await run.evaluate({ continue: true });
    expect(getConversationItems(run.turns[5])[0]).toEqual(createEncryptedItem(1));
  });
});
