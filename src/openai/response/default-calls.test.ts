import { describe, expect, test } from "vitest";
import { createTaskPrompt, lookTool, runScript } from "../../../tests/support/openai-run.ts";
import {
  codeInterpreterCall,
  functionCall,
  message,
  reasoning,
  webSearchCall,
} from "../../../tests/support/wire-server.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import type { HostedToolCodec } from "../codecs/codec.ts";
import type { WireItem } from "../wire.ts";

interface Rolls {
  readonly rolls: readonly unknown[];
}

/** Creates a codec with the three members of the specification, for one item type. */
const createCodec = (kind: string, type: string, itemType: string) =>
  ({
    kind,
    serialize: () => ({ type }),
    parseOutput(items) {
      const rolls = items.filter((item) => item["type"] === itemType).map((item) => item["eyes"]);
      return rolls.length > 0 ? { rolls } : null;
    },
  }) satisfies HostedToolCodec<object, Rolls>;

const createDice = (kind: string, more: object = {}) =>
  new HostedTool<object, Rolls>({ kind, name: kind, description: "Rolls.", config: {}, ...more });

const roll = (type: string, eyes: number, more: object = {}): WireItem => ({
  type,
  id: `roll_${eyes}`,
  status: "completed",
  eyes,
  ...more,
});

async function run(
  output: readonly WireItem[],
  hostedTools: readonly HostedTool[],
  hostedToolCodecs: readonly HostedToolCodec[],
) {
  const script = output.some(({ type }) => type === "function_call")
    ? [output, [message("Done.")]]
    : [output];
  const { response, error, bus, bodies } = await runScript(script, {
    prompt: createTaskPrompt({ tools: [lookTool], hostedTools }),
    adapter: { hostedToolCodecs },
    server: { invalid: "allowed" },
  });
  if (!response) throw error;
  const events = bus.of("ToolInvoked").map(({ name, callId, params, result }) => ({
    name,
    callId,
    params,
    value: result.value,
  }));
  return { response, events, bodies };
}

describe("a codec with only kind, serialize and parseOutput", () => {
  test("gets its calls by the type that it serializes", async () => {
    const items = [webSearchCall("owls"), roll("dice_call", 4), message("Four.")];
    const { response, events } = await run(
      items,
      [webSearchTool(), createDice("fortune")],
      [createCodec("fortune", "dice", "dice_call")],
    );
    expect(events).toMatchObject([
      { name: "web_search", callId: expect.stringMatching(/^ws_/) },
      {
        name: "fortune",
        callId: "roll_4",
        params: { type: "dice_call", eyes: 4 },
        value: { rolls: [4] },
      },
    ]);
    expect(response.hostedCalls[1]).toMatchObject({ callId: "roll_4", raw: { id: "roll_4" } });
    expect(response.hostedOutputs.get("fortune")).toEqual({ rolls: [4] });
  });

  test("publishes one event per call, each with its own identity and output", async () => {
    const { response, events } = await run(
      [roll("dice_call", 1), roll("dice_call", 2), functionCall("look", {}), message("Two.")],
      [createDice("dice")],
      [createCodec("dice", "dice", "dice_call")],
    );
    expect(events).toMatchObject([
      { callId: "roll_1", params: { eyes: 1 }, value: { rolls: [1] } },
      { callId: "roll_2", params: { eyes: 2 }, value: { rolls: [2] } },
      { name: "look" },
    ]);
    expect(response.hostedOutputs.get("dice")).toEqual({ rolls: [1, 2] });
  });

  test("runs a hook for each call", async () => {
    const seen: unknown[] = [];
    const handleProviderOutput = (output: Rolls) => ToolResult.ok({ rolls: [seen.push(output)] });
    const { response } = await run(
      [roll("dice_call", 1), roll("dice_call", 2), message("Two.")],
      [createDice("dice", { handleProviderOutput })],
      [createCodec("dice", "dice", "dice_call")],
    );
    expect(seen).toEqual([{ rolls: [1] }, { rolls: [2] }]);
    expect(response.hostedOutputs.get("dice")).toEqual({ rolls: [1, 2] });
  });

  test.each([
    ["web_search_preview", "web_search_call"],
    ["web_search_preview_2025_03_11", "web_search_call"],
    ["web_search_2025_08_26", "web_search_call"],
    ["dice", "dice"],
    ["dice", "dice_roll"],
  ])("gets the call of the type %s from an item of type %s", async (type, itemType) => {
    const { events } = await run(
      [codeInterpreterCall("1"), roll(itemType, 4), message("Four.")],
      [codeInterpreterTool(), createDice("fortune")],
      [createCodec("fortune", type, itemType)],
    );
    expect(events[1]).toMatchObject({ name: "fortune", callId: "roll_4", params: { eyes: 4 } });
  });

  test("gets its call from an item whose type no tool has, if it parses it", async () => {
    const { events } = await run(
      [codeInterpreterCall("1"), roll("thrown", 4), roll("dropped", 5), message("Four.")],
      [codeInterpreterTool(), createDice("dice")],
      [createCodec("dice", "dice", "thrown")],
    );
    expect(events).toMatchObject([
      { name: "code_interpreter" },
      { name: "dice", callId: "roll_4", params: { eyes: 4 }, value: { rolls: [4] } },
    ]);
  });

  test("never gets another tool's call, even if its kind is the beginning of it", async () => {
    const any: HostedToolCodec = {
      kind: "web",
      serialize: () => ({ type: "web" }),
      parseOutput: (items) => items.length,
    };
    const items = [reasoning("rs_1"), webSearchCall("owls"), message("Found.")];
    const { response, events } = await run(items, [webSearchTool(), createDice("web")], [any]);
    expect(events.find(({ name }) => name === "web")).toEqual({
      name: "web",
      callId: "",
      params: {},
      value: 3,
    });
    expect(response.hostedCalls.find(({ name }) => name === "web")?.raw).toEqual({});
  });

  test("shares a serialized type with another codec if each parses its own items", async () => {
    const createShared = (kind: string, owner: string): HostedToolCodec<object, Rolls> => ({
      kind,
      serialize: () => ({ type: "dice" }),
      parseOutput(items) {
        const rolls = items.filter((item) => item["owner"] === owner).map(({ eyes }) => eyes);
        return rolls.length > 0 ? { rolls } : null;
      },
    });
    const { events } = await run(
      [roll("dice_call", 1, { owner: "b" }), roll("dice_call", 2, { owner: "a" }), message("Two.")],
      [createDice("a"), createDice("b")],
      [createShared("a", "a"), createShared("b", "b")],
    );
    expect(events).toMatchObject([
      { name: "b", callId: "roll_1", value: { rolls: [1] } },
      { name: "a", callId: "roll_2", value: { rolls: [2] } },
    ]);
  });

  test("reads each call with the items that answer it", async () => {
    const codec: HostedToolCodec<object, Rolls> = {
      kind: "dice",
      serialize: () => ({ type: "dice" }),
      parseOutput(items) {
        const rolls = items.flatMap(({ type, eyes }) =>
          type === "dice_call_output" ? [eyes] : [],
        );
        return rolls.length > 0 ? { rolls } : null;
      },
    };
    const { events } = await run(
      [
        { type: "dice_call", call_id: "c1", id: "d1" },
        { type: "dice_call_output", call_id: "c1", eyes: 1 },
        { type: "dice_call", call_id: "c2", id: "d2" },
        { type: "dice_call_output", call_id: "c2", eyes: 2 },
        message("Two."),
      ],
      [createDice("dice")],
      [codec],
    );
    expect(events).toMatchObject([
      { callId: "c1", value: { rolls: [1] } },
      { callId: "c2", value: { rolls: [2] } },
    ]);
  });

  test("reports a call that failed at the provider as failed", async () => {
    const { response } = await run(
      [roll("dice_call", 1, { status: "failed" }), message("Sorry.")],
      [createDice("dice")],
      [createCodec("dice", "dice", "dice_call")],
    );
    expect(response.hostedCalls).toMatchObject([
      { success: false, message: 'Failed (status "failed")', output: { rolls: [1] } },
    ]);
  });
});

test.each(["evaluate", "adapter"] as const)(
  "the default tool choice in the options of %s is the type that the codec serializes",
  async (where) => {
    const { bodies } = await runScript([[roll("dice_call", 1), message("One.")]], {
      prompt: createTaskPrompt({ hostedTools: [createDice("fortune")] }),
      adapter: { hostedToolCodecs: [createCodec("fortune", "dice", "dice_call")] },
      ...(where === "evaluate" && { evaluate: { toolChoice: { type: "fortune" } } }),
      ...(where === "adapter" && {
        adapter: {
          toolChoice: { type: "built_in", name: "fortune" },
          hostedToolCodecs: [createCodec("fortune", "dice", "dice_call")],
        },
      }),
      server: { invalid: "allowed" },
    });
    expect(bodies[0]?.["tool_choice"]).toEqual({ type: "dice" });
  },
);
