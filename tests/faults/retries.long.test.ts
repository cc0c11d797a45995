import { describe, expect, test } from "vitest";
import { Budget, webSearchTool } from "weakincentives";
import { createFaultSetup, getConversationItems } from "../support/faults/fault-setup.ts";
import { clients } from "../support/openai-clients.ts";
import {
  functionCall,
  message,
  type RouteAnswer,
  reasoning,
  type SeenRequest,
  webSearchCall,
} from "../support/wire-server.ts";

const one = functionCall("add", { a: 1, b: 2 }, "call_1");
const two = functionCall("add", { a: 3, b: 4 }, "call_2");
const busy: RouteAnswer = { status: 503, error: { message: "Busy.", type: "server_error" } };
const reset: RouteAnswer = { raw: ({ socket }) => socket.destroy() };
const odd: RouteAnswer = { json: { error: { code: "server_error", message: "Odd." } } };
const half: RouteAnswer = {
  raw: (_request, response) => void response.write("{", () => response.destroy()),
};

const listTexts = (turns: readonly SeenRequest[]) => turns.map(({ text }) => text);

describe.each(clients)("on %s, a conversation with failures at every turn", (_name, client) => {
  const script = [
    ...[busy, [reasoning("rs_1"), webSearchCall("owls"), one]],
    ...[reset, half, [reasoning("rs_2"), message("Seven more."), two]],
    ...[odd, busy, [message("Ten.")]],
  ];
  const hostedTools = [webSearchTool()];

  test.each([true, false])("repeats the same request each time, with store: %s", async (store) => {
    const adapter = { modelConfig: { store } };
    await using at = await createFaultSetup(client, script, { hostedTools, adapter });
    expect(await at.evaluate()).toMatchObject({ text: "Ten." });
    const [a, b, c, d, e, f, g, h] = listTexts(at.turns);
    expect([b, d, e, g, h]).toEqual([a, c, c, f, f]);
    expect(new Set([a, c, f]).size).toBe(3);
    const types = getConversationItems(at.turns.at(-1)).map((item) => Object(item).type);
    expect(types.join(" ")).toBe(
      "reasoning web_search_call function_call function_call_output " +
        "reasoning message function_call function_call_output",
    );
  });

  test("runs every call once, and counts and reports every turn once", async () => {
    await using at = await createFaultSetup(client, script, { hostedTools });
    const response = await at.evaluate();
    expect(at.additions).toEqual([
      { a: 1, b: 2 },
      { a: 3, b: 4 },
    ]);
    expect(response.usage.totalTokens).toBe(45);
    expect(response.hostedCalls).toHaveLength(1);
    const names = at.bus.of("ToolInvoked").map(({ name }) => name);
    expect(names).toEqual(["web_search", "add", "add"]);
    expect(at.bus.of("TurnStarted").map(({ turn }) => turn)).toEqual([1, 2, 3]);
    expect(at.bus.of("TurnCompleted").map(({ turn }) => turn)).toEqual([1, 2, 3]);
    expect(at.bus.of("PromptExecuted")).toMatchObject([{ turns: 3 }]);
    expect(at.bus.of("HistoryRepaired")).toEqual([]);
  });

  test("is stored as if there had been no failures", async () => {
    await using smooth = await createFaultSetup(
      client,
      script.filter((answer) => Array.isArray(answer)),
      { hostedTools },
    );
    await using rough = await createFaultSetup(client, script, { hostedTools });
    await smooth.evaluate();
    await rough.evaluate();
    const [kept, expected] = [rough, smooth].map(({ bus }) =>
      bus.of("HistoryAdvanced").map(({ turn, kept: count, added }) => [turn, count, added]),
    );
    expect(kept).toEqual(expected);
  });
});

describe.each(clients)("on %s, a turn that fails permanently", (_name, client) => {
  test("retains the partial result", async () => {
    const turn = [webSearchCall("owls"), message("Owls."), one];
    await using at = await createFaultSetup(client, [turn, busy, busy, busy], {
      hostedTools: [webSearchTool()],
    });
    expect(await at.getFailure()).toMatchObject({
      name: "ThrottleError",
      partial: {
        text: "Owls.",
        turns: 1,
        responseId: "resp_1",
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
        hostedCalls: [{ name: "web_search", kind: "web_search", success: true }],
      },
    });
  });

  test("has an empty partial result if it is the first turn", async () => {
    await using at = await createFaultSetup(client, [busy, busy, busy]);
    const partial = { text: null, turns: 0, responseId: null, hostedCalls: [] };
    expect(await at.getFailure()).toMatchObject({ partial });
  });

  test("logs each attempt without request bodies", async () => {
    await using at = await createFaultSetup(client, [[one], busy, busy, busy]);
    await at.getFailure();
    const warnings = at.logged.filter(([said]) => said.includes("throttled"));
    expect(warnings).toMatchObject([
      ["throttled: waiting to try again", { kind: "server", attempts: 1, delayMs: 1 }],
      ["throttled: waiting to try again", { kind: "server", attempts: 2, delayMs: 1 }],
    ]);
    expect(at.logged.filter(([said]) => said === "request failed")).toHaveLength(3);
    expect(JSON.stringify(at.logged)).not.toContain("call_1");
  });

  test("leaves the session usable for another evaluation", async () => {
    await using at = await createFaultSetup(client, [[one], busy, busy, busy, [message("Fresh.")]]);
    await at.getFailure();
    expect(await at.evaluate()).toMatchObject({ text: "Fresh." });
    expect(getConversationItems(at.turns.at(-1))).toEqual([]);
  });

  test("counts against the budget only when it succeeds", async () => {
    await using at = await createFaultSetup(client, [busy, busy, [message("Hi.")]]);
    const budget = new Budget({ maxTotalTokens: 15 });
    expect(await at.evaluate({ budget })).toMatchObject({ text: "Hi." });
  });
});

describe.each(clients)("on %s, a dropped item", (_name, client) => {
  test("is reported once, for any number of attempts", async () => {
    const cut = { ...functionCall("add", '{"a":', "call_9"), status: "incomplete" };
    const answer = { output: [one, cut], incomplete_details: { reason: "max_output_tokens" } };
    await using at = await createFaultSetup(client, [answer, busy, busy, [message("Three.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(listTexts(at.turns).slice(2)).toEqual([at.turns[1]?.text, at.turns[1]?.text]);
    expect(at.bus.of("HistoryRepaired")).toMatchObject([{ dropped: [{ type: "function_call" }] }]);
  });
});
