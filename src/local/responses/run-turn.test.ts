import { describe, expect, test } from "vitest";
import { createTurnState, type TurnParts } from "../../../tests/support/local/turn-state.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import type { TurnInput } from "../turn/turn.ts";
import { runTurn } from "./run-turn.ts";

/** Runs a turn in which the model returns these action lists in order. */
function startTurn(
  script: readonly (readonly ModelAction[])[],
  { input: more = {}, ...parts }: Partial<TurnParts> & { readonly input?: Partial<TurnInput> } = {},
) {
  const { input, services } = createTurnState({ tools: [], ...parts });
  const told: WireItem[] = [];
  const model = { respond: async ({ turn: at }: { readonly turn: number }) => script[at] ?? [] };
  const onItem = (item: WireItem) => void told.push(item);
  const run = runTurn({ ...input, ...more }, { ...services, model }, { onItem });
  return { run, told };
}

function readText(item: WireItem = {}): unknown {
  const [part] = item["content"] as readonly WireItem[];
  return part?.["text"];
}

describe("runTurn()", () => {
  test("runs until the model answers, and reports each item once", async () => {
    const { run, told } = startTurn([[{ think: "Hm." }], [{ think: "" }], [{ say: "Yes." }]]);
    const { output, status } = await run;
    expect(status).toBe("completed");
    expect(output.map(({ type }) => type)).toEqual(["reasoning", "reasoning", "message"]);
    expect(output.map(({ summary }) => summary)).toMatchObject([[{ text: "Hm." }], [], undefined]);
    expect(told).toEqual(output);
  });

  test("limits the text of all messages together", async () => {
    const script = [[{ say: "x".repeat(41) }, { refuse: "No." }, { say: "y€z".repeat(10) }]];
    const { output, status, incompleteReason } = await startTurn(script, {
      input: { maxOutputTokens: 16 },
    }).run;
    expect([status, incompleteReason]).toEqual(["incomplete", "max_output_tokens"]);
    expect(readText(output[0])).toHaveLength(41);
    expect(readText(output[2])).toBe("y€zy€zy€zy€zy");
  });

  test("passes the text of the last message, or the instructions, to the model", async () => {
    const asked: string[] = [];
    const { input, services } = createTurnState({ tools: [] });
    const model = {
      respond: async (request: { readonly text: string }) => {
        asked.push(request.text);
        return [{ say: "Yes." }];
      },
    };
    const about = { ...services, model };
    await runTurn(input, about);
    await runTurn({ ...input, instructions: "Go." }, about);
    await runTurn(
      { ...input, instructions: "Go.", items: [{ role: "user", content: "Hi." }] },
      about,
    );
    expect(asked).toEqual(["", "Go.", "Hi."]);
  });

  test("ends if the client has disconnected", async () => {
    const signal = AbortSignal.abort(new Error("gone"));
    await expect(startTurn([[{ say: "Yes." }]], { input: { signal } }).run).rejects.toThrow("gone");
  });

  test("ends if the model drops the connection", async () => {
    await expect(startTurn([[{ drop: true }]]).run).rejects.toBeInstanceOf(ConnectionDroppedError);
  });

  test.each<[ModelAction, string]>([
    [{ search: "owls" }, "searched the web"],
    [{ search: { file: "owls" } }, "searched files"],
    [{ search: { open: "https://owls.example" } }, "opened a page"],
    [{ search: { find: "owls", in: "https://owls.example" } }, "looked into a page"],
    [{ code: "1" }, "ran code"],
    [{ shell: ["ls"] }, "ran commands"],
    [{ patch: [{}] }, "wrote a patch"],
    [{ call: { name: "look", args: {} } }, 'called the function "look"'],
  ])("rejects the action %j without its tool", async (action, did) => {
    await expect(startTurn([[action]]).run).rejects.toMatchObject({
      status: 500,
      code: "model_error",
      headers: { "x-should-retry": "false" },
      message: expect.stringContaining(
        `Step 1 failed: the model ${did}, but the request does not offer`,
      ),
    });
  });

  test("expires its container and the containers its tools name", async () => {
    const expired: string[] = [];
    const run = async (tools: readonly WireItem[], script: readonly ModelAction[]) => {
      const { input, services } = createTurnState({ tools });
      const containers = {
        ...services.tools.containers,
        expire: async (id: string) => void expired.push(id),
      };
      const model = { respond: async () => [...script, { say: "Yes." }] };
      await runTurn(input, { ...services, model, tools: { ...services.tools, containers } });
    };
    const auto = { type: "code_interpreter", container: { type: "auto" } };
    await run([auto], [{ expireContainer: true }]);
    expect(expired).toEqual([]);
    await run(
      [auto, { type: "code_interpreter", container: "cntr_9" }],
      [{ code: "1" }, { expireContainer: true }],
    );
    expect(expired).toEqual(["cntr_9", "cntr_1"]);
  });
});
