import { describe, expect, test } from "vitest";
import { codeInterpreterTool, type HostedTool } from "weakincentives";
import {
  createFaultSetup,
  type FaultSetup,
  getConversationItems,
} from "../support/faults/fault-setup.ts";
import { clients } from "../support/openai-clients.ts";
import { findHistoryRefusal } from "../support/openapi.ts";
import {
  codeInterpreterCall,
  functionCall,
  message,
  type RouteAnswer,
  reasoning,
  type SeenRequest,
} from "../support/wire-server.ts";

const createRejection = (status: number, words: string): RouteAnswer => ({
  status,
  error: { message: words },
});
const thought = reasoning("rs_1");
const addition = { ...functionCall("add", { a: 1, b: 2 }, "call_1"), id: "fc_1" };
const another = { ...functionCall("add", { a: 3, b: 4 }, "call_2"), id: "fc_2" };
const code = { ...codeInterpreterCall("print(3)", ["3\n"], "cntr_1"), id: "ci_1" };
const first = [thought, code, addition];
const hostedTools: readonly HostedTool[] = [codeInterpreterTool()];
const server = { lenient: true } as const;

const unknownItem =
  "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. " +
  "Try again with `store` set to true, or remove this item from your input.";
const alone = "Item 'rs_1' of type 'reasoning' was provided without its required following item.";
const missing =
  "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.";

const complaints: readonly [string, number, string][] = [
  [unknownItem, 404, "reasoning code_interpreter_call function_call function_call_output"],
  ["Item with id 'ci_1' not found.", 404, "code_interpreter_call"],
  [alone, 400, "reasoning"],
  [missing, 400, "function_call function_call_output"],
  ["No tool output found for function call call_1.", 400, "function_call function_call_output"],
  [
    "No tool call found for function call output with call_id call_1.",
    400,
    "function_call function_call_output",
  ],
  ["Container is expired.", 400, "code_interpreter_call"],
  ["Container with id 'cntr_1' not found.", 404, "code_interpreter_call"],
  ["Expected container_id: cntr_9", 400, "code_interpreter_call"],
];

const listTypes = (items: readonly unknown[]) => items.map((item) => Object(item).type);
const getDroppedTypes = (at: FaultSetup) => {
  const events = at.bus.of("HistoryRepaired");
  expect(events).toHaveLength(1);
  return listTypes(events[0]?.dropped ?? []).join(" ");
};

describe.each(clients)("on %s, the provider's rejection", (_name, client) => {
  test.each(complaints)(
    "«%s» (%i) is repaired once by dropping the rejected items: %s",
    async (words, status, dropped) => {
      const script = [first, createRejection(status, words), [message("Three.")]];
      await using at = await createFaultSetup(client, script, { hostedTools, server });
      expect(await at.evaluate()).toMatchObject({ text: "Three." });
      expect(getDroppedTypes(at)).toBe(dropped);
      const [, before, after] = at.turns;
      const kept = listTypes(getConversationItems(before)).filter(
        (type) => !dropped.split(" ").includes(type),
      );
      expect(listTypes(getConversationItems(after))).toEqual(kept);
      expect(findHistoryRefusal(after?.body ?? {})).toBeNull();
      expect(at.additions).toHaveLength(1);
      expect(at.logged.filter(([said]) => said === "repaired the history")).toHaveLength(1);
    },
  );

  test.each(complaints)(
    "«%s» (%i) is repaired when an old history is continued",
    async (words, status) => {
      const script = [
        first,
        [message("Three.")],
        createRejection(status, words),
        [message("Four.")],
      ];
      await using at = await createFaultSetup(client, [...script, [message("Five.")]], {
        hostedTools,
        server,
      });
      await at.evaluate();
      expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Four." });
      getDroppedTypes(at);
      // Dropped items are not sent again.
      expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Five." });
      const [, , , fourth, fifth] = at.turns.map((turn) => getConversationItems(turn));
      expect(fifth?.slice(0, fourth?.length)).toEqual(fourth);
      expect(findHistoryRefusal(at.turns[4]?.body ?? {})).toBeNull();
      getDroppedTypes(at);
    },
  );

  test.each(complaints)("«%s» (%i) is an error when it is repeated", async (words, status) => {
    const again = createRejection(status, words);
    const script = [first, again, again, [message("Fresh.")]];
    await using at = await createFaultSetup(client, script, { hostedTools, server });
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      requestId: "req_3",
      message: expect.stringContaining(words.slice(0, 20)),
      cause: { name: "OpenAIRequestError", status },
      partial: { turns: 1, hostedCalls: [{ kind: "code_interpreter" }] },
    });
    expect(at.turns).toHaveLength(3);
    expect(await at.evaluate()).toMatchObject({ text: "Fresh." });
  });

  test("with another reason, after a repair, is an error", async () => {
    const script = [
      first,
      createRejection(400, alone),
      createRejection(400, "Container is expired."),
    ];
    await using at = await createFaultSetup(client, script, { hostedTools, server });
    const words = expect.stringContaining("Container is expired");
    expect(await at.getFailure()).toMatchObject({ phase: "request", message: words });
    expect(at.turns).toHaveLength(3);
  });

  test("of a later turn is repaired too", async () => {
    const script = [
      ...[first, createRejection(400, "Container is expired."), [another]],
      ...[createRejection(404, "Item with id 'rs_1' not found."), [message("Done.")]],
    ];
    await using at = await createFaultSetup(client, script, { hostedTools, server });
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    expect(at.bus.of("HistoryRepaired")).toHaveLength(2);
    expect(findHistoryRefusal(at.turns.at(-1)?.body ?? {})).toBeNull();
  });

  test.each([
    ["Item with id 'rs_999' not found.", 404],
    ["Item 'rs_999' of type 'reasoning' was provided without its required following item.", 400],
    ["No tool output found for function call call_999.", 400],
    ["No tool output found for function call call_11.", 400],
    ["Container with id 'cntr_999' not found.", 404],
    ["The requested model 'gpt-9' does not exist.", 404],
    ["Unknown parameter: 'call_1'.", 400],
  ])("«%s» about an item that is not in the history fails immediately", async (words, status) => {
    const script = [first, createRejection(status, words)];
    await using at = await createFaultSetup(client, script, { hostedTools, server });
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      requestId: "req_2",
      cause: { name: "OpenAIRequestError", status },
    });
    expect(at.turns).toHaveLength(2);
    expect(at.bus.of("HistoryRepaired")).toEqual([]);
  });

  test.each(["Container is expired.", "Expected container_id: cntr_9"])(
    "«%s» of the first request fails immediately",
    async (words) => {
      await using at = await createFaultSetup(client, [createRejection(400, words)], {
        hostedTools,
      });
      expect(await at.getFailure()).toMatchObject({ phase: "request", requestId: "req_1" });
      expect(at.bus.of("HistoryRepaired")).toEqual([]);
    },
  );

  test.each([401, 403, 413, 422])("with status %i does not change the history", async (status) => {
    const script = [first, createRejection(status, alone)];
    await using at = await createFaultSetup(client, script, { hostedTools, server });
    expect(await at.getFailure()).toMatchObject({ phase: "request", requestId: "req_2" });
    expect(at.turns).toHaveLength(2);
  });

  test("is repaired once even if the next response is throttled", async () => {
    let [asked, mended] = [0, 0];
    const script = ({ text }: SeenRequest) => {
      if (asked++ === 0) return first;
      if (text.includes("cntr_1")) return createRejection(400, "Container is expired.");
      return mended++ === 0 ? createRejection(503, "Busy.") : [message("Three.")];
    };
    await using at = await createFaultSetup(client, script, { hostedTools, server });
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(getDroppedTypes(at)).toBe("code_interpreter_call");
  });
});
