import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { sealedItem } from "../../../tests/support/compaction/routes.ts";
import { add, calling, compacting, three } from "../../../tests/support/compaction/stage.ts";
import { conversationOf } from "../../../tests/support/faults/stage.ts";
import { clients } from "../../../tests/support/openai-clients.ts";
import { systemMessage } from "../../../tests/support/openai-run.ts";
import { message } from "../../../tests/support/wire-server.ts";
import { compactionSlice } from "../compaction/compaction-state.ts";
import { historySlice } from "../history/history-slice.ts";

describe("a conversation", () => {
  it.each(clients)(
    "is compacted one token over its threshold and not at it, by %s",
    async (_name, client) => {
      for (const tokens of [50, 51]) {
        const at = await compacting([[add], [message("Three.")]], { tokens, client });
        const response = await at.evaluate();
        expect(response.text).toBe("Three.");
        expect(at.compactions.length > 0).toBe(tokens > 50);
      }
    },
  );

  it("is compacted as a whole but for its prompt, which stays, and goes on from what came", async () => {
    const at = await compacting([[add], [message("Three.")]], {
      tokens: (nth) => (nth === 1 ? 51 : 50),
    });
    await at.evaluate();
    expect(at.compactions.map(({ body }) => body)).toEqual([
      {
        model: "gpt-5.2",
        instructions: systemMessage.content,
        input: [
          expect.objectContaining({ type: "function_call", name: "add" }),
          { type: "function_call_output", call_id: "call_1", output: "3" },
        ],
      },
    ]);
    expect(at.turns[1]?.body["input"]).toEqual([systemMessage, sealedItem(1)]);
    expect(at.session.get(historySlice)).toEqual([
      systemMessage,
      sealedItem(1),
      expect.objectContaining({ role: "assistant" }),
    ]);
  });

  it("is measured by the provider, with all that a request has and nothing else", async () => {
    const at = await compacting([[add], [message("Three.")]], { tokens: 50 });
    await at.evaluate();
    const { model, tools, tool_choice, input } = Object(at.turns[1]?.body);
    expect(at.counts[0]?.body).toEqual({ model, tools, tool_choice, input });
  });

  it("is not measured while it cannot be too long", async () => {
    const at = await compacting([[add], [message("Three.")]], {
      adapter: { compaction: { thresholdTokens: 100_000 } },
    });
    await at.evaluate();
    expect([at.counts, at.compactions]).toEqual([[], []]);
  });

  it.each([null, { enabled: false, thresholdTokens: 1 }])(
    "is left alone with %j",
    async (compaction) => {
      const at = await compacting([calling, three, three], { adapter: { compaction } });
      await at.evaluate();
      await at.evaluate();
      expect([at.counts, at.compactions]).toEqual([[], []]);
    },
  );

  it("is not compacted while it is nothing but what the model was told", async () => {
    const at = await compacting([[message("Three.")]], { tokens: 51 });
    await at.evaluate();
    expect([at.counts, at.compactions]).toEqual([[], []]);
  });

  it("is compacted once more after its last answer, so that the next evaluation starts short", async () => {
    const at = await compacting([calling, three, [message("Four.")]], {
      tokens: (nth) => (nth === 2 ? 51 : 50),
    });
    await at.evaluate();
    expect(at.compactions).toHaveLength(1);
    expect(at.session.get(compactionSlice)).toMatchObject({ compactionCount: 1 });
    expect(at.session.get(historySlice)).toEqual([systemMessage, sealedItem(1)]);
    await at.evaluate();
    expect(at.turns[2]?.body["input"]).toEqual([systemMessage, sealedItem(1)]);
  });

  it("goes on from its stored items with continue, which the window is among once", async () => {
    const at = await compacting([calling, three, [message("Four.")]], {
      tokens: (nth) => (nth === 2 ? 51 : 50),
    });
    await at.evaluate();
    await at.evaluate({ continue: true });
    expect(at.turns[2]?.body["input"]).toEqual([systemMessage, sealedItem(1), systemMessage]);
  });

  it("that does not get shorter is not compacted again until new items came", async () => {
    const at = await compacting([calling, calling, three, three], { tokens: 51 });
    await at.evaluate();
    // Before each of two requests that bring new items, and after the answer.
    expect(at.compactions).toHaveLength(3);
    await at.evaluate();
    expect(at.turns).toHaveLength(4);
    expect(at.compactions[3]?.body["input"]).toMatchObject([sealedItem(3), { role: "assistant" }]);
    expect(at.compactions).toHaveLength(4); // after the answer, which is new
  });

  it("adds the cost of compactions to its usage", async () => {
    const at = await compacting([calling, three], { tokens: 51 });
    const { usage: total } = await at.evaluate();
    expect(at.compactions).toHaveLength(2);
    expect(total.totalTokens).toBe(60 + 60 + 2 * 100);
    expect(at.bus.of("TurnCompleted").map((event) => event.usage.totalTokens)).toEqual([60, 260]);
  });

  it("tells of a compaction in lengths and numbers only", async () => {
    const at = await compacting([calling, three], { tokens: (nth) => (nth === 1 ? 51 : 50) });
    await at.evaluate();
    const events = at.bus.of("ContextCompacted");
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

  it("shows nothing that is sealed to whoever prints its events, its state or its log", async () => {
    const at = await compacting([calling, three], { tokens: 51 });
    await at.evaluate();
    const state = [at.session.get(compactionSlice), at.session.get(historySlice)];
    const shown = inspect([at.bus.events, state, at.logged], { depth: 20, maxArrayLength: 1_000 });
    expect(shown).toContain("encrypted_content: '[8 characters]'");
    expect(shown).not.toMatch(/sealed \d/);
    expect(JSON.stringify(at.bus.of("TurnCompleted"))).toContain("sealed 2");
  });

  it("is measured by its last usage where the provider counts nothing", async () => {
    const missing = { status: 404, error: { message: "Invalid URL." } };
    const at = await compacting([calling, [message("Three.")]], { tokens: () => missing });
    await at.evaluate();
    expect(at.compactions).toHaveLength(1);
    expect(at.bus.of("ContextCompacted")).toMatchObject([{ tokensBefore: 60 }]);
  });
});

it("a conversation that nobody has counted is sent as it is", async () => {
  const missing = { status: 404, error: { message: "Invalid URL." } };
  const at = await compacting([[message("Three.")], [message("Four.")]], { tokens: () => missing });
  await at.evaluate();
  await at.evaluate({ continue: true });
  expect([at.counts.length, at.compactions.length]).toEqual([1, 0]);
});

describe("a conversation within a tool's handler", () => {
  it.each(["endpoint", "server"] as const)(
    "goes on from nothing of the session's, and leaves nothing to it, by the %s",
    async (strategy) => {
      const compaction = { strategy, thresholdTokens: strategy === "server" ? 1_000 : 50 };
      const ends = strategy === "server" ? [message("Three."), sealedItem(9)] : three.output;
      const inner = { ...three, output: ends };
      const isInner = (turn: number) => turn === 3 || turn === 4;
      let turn = 0;
      const at = await compacting(
        // The first evaluation; the second calls, and within that the third calls and ends.
        () => [inner, calling, calling, inner, [message("Four.")]][turn++] ?? [message("Late.")],
        {
          tokens: () => (strategy === "endpoint" ? 51 : 1),
          adapter: { compaction },
          onAdd: async () => {
            if (turn === 2) await at.evaluate();
          },
        },
      );
      await at.evaluate();
      await at.evaluate();
      const [, second, third] = at.turns.map(({ body }) => JSON.stringify(body["input"]));
      expect(second).toContain("sealed");
      expect(third).not.toContain("sealed");
      expect(at.turns.filter((_turn, place) => isInner(place + 1))).toHaveLength(2);
      const kept = at.bus.of("CompactionKept").length;
      expect(at.bus.of("ContextCompacted").length).toBeGreaterThan(kept);
      expect(at.session.get(compactionSlice).compactionCount).toBe(kept);
    },
  );
});

describe("what was compacted", () => {
  it("for another model is let go of, with an event that says why", async () => {
    const first = await compacting([calling, three], { tokens: 51 });
    await first.evaluate();
    const { session } = first;
    const { compactionCount } = session.get(compactionSlice);
    const told: object[] = [];
    session.bus.subscribe("CompactionDiscarded", (event) => told.push(event));
    const next = await compacting([[message("Four.")], [message("Five.")]], {
      session,
      tokens: 50,
      adapter: { model: "gpt-6" },
    });
    await next.evaluate();
    expect(next.turns[0]?.body["input"]).toEqual([systemMessage]);
    expect(told).toMatchObject([
      { reason: 'it was compacted for the model "gpt-5.2", and this is "gpt-6"' },
    ]);
    expect(session.get(compactionSlice)).toEqual({ ...compactionSlice.initial, compactionCount });
  });

  it("for another model is no part of a conversation that continues either", async () => {
    const first = await compacting([calling, three], { tokens: 51 });
    await first.evaluate();
    const { session } = first;
    const repaired: object[] = [];
    session.bus.subscribe("HistoryRepaired", (event) => repaired.push(event));
    const next = await compacting([[message("Four.")]], {
      session,
      tokens: 50,
      adapter: { model: "gpt-6" },
    });
    await next.evaluate({ continue: true });
    expect(next.turns[0]?.body["input"]).toEqual([systemMessage, systemMessage]);
    expect(repaired).toMatchObject([{ dropped: [{ type: "compaction", id: "cmp_2" }] }]);
  });

  it("is set back with the session: the next evaluation goes on from what was kept then", async () => {
    const script = [calling, three, [add], [message("Four.")], [message("Five.")]];
    const at = await compacting([...script, [message("Six.")]], {
      tokens: (nth) => (nth === 1 || nth === 3 ? 51 : 50),
    });
    await at.evaluate();
    const before = at.session.snapshot();
    expect(at.session.get(compactionSlice)).toMatchObject({ compactionCount: 1 });
    await at.evaluate();
    expect(at.session.get(compactionSlice)).toMatchObject({ window: [sealedItem(2)] });
    at.session.restore(before);
    expect(at.session.get(compactionSlice)).toMatchObject({ compactionCount: 1 });
    await at.evaluate();
    expect(at.turns[4]?.body["input"]).toEqual([systemMessage, sealedItem(1)]);
    await at.evaluate({ continue: true });
    expect(conversationOf(at.turns[5])[0]).toEqual(sealedItem(1));
  });
});
