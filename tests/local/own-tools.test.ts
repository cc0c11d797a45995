import { describe, expect, test } from "vitest";
import { echoModel, type LocalTool, type LocalToolItem } from "weakincentives/local";
import type { WireItem } from "../../src/openai/wire.ts";
import { createDice, dice, roll, startProvider } from "../support/local/own-tools-provider.ts";
import {
  findItem,
  readAnnotations,
  readAnswer,
  readOutput,
} from "../support/local/provider-fixture.ts";

const offered = { input: "Roll.", tools: [{ type: "dice", color: "red" }] };
const rollAndSay = [[roll], [{ say: "A six." }]];

function listTypes(events: readonly WireItem[]): readonly unknown[] {
  return events.map(({ type }) => type);
}

describe("a custom tool", () => {
  test("runs with the request's tool and the model's arguments", async () => {
    const calls: unknown[] = [];
    const run: LocalTool["run"] = (call) => {
      calls.push(call);
      return { rolled: 4 };
    };
    const { respond } = await startProvider([createDice({ run })], rollAndSay);
    const response = await respond(offered);
    expect(response).toMatchObject({
      status: "completed",
      tools: [{ type: "dice", color: "red" }],
    });
    expect(readOutput(response)).toEqual([
      {
        id: expect.stringMatching(/^dice_\w{40,}$/),
        type: "dice_call",
        status: "completed",
        rolled: 4,
      },
      expect.objectContaining({ type: "message" }),
    ]);
    expect(calls).toEqual([{ entry: { type: "dice", color: "red" }, args: { sides: 6 } }]);
  });

  test("is repeated in responses by its echo, but runs with the original entry", async () => {
    const entries: WireItem[] = [];
    const run: LocalTool["run"] = ({ entry }) => {
      entries.push(entry);
      return { rolled: 4 };
    };
    const echo = ({ type }: WireItem) => ({ type });
    const script = [...rollAndSay, ...rollAndSay];
    const { respond, stream } = await startProvider([createDice({ run, echo })], script);
    const sent = { ...offered, tools: [{ type: "dice", token: "secret-7" }] };
    const response = await respond(sent);
    expect(response).toMatchObject({ status: "completed", tools: [{ type: "dice" }] });
    expect(JSON.stringify([response, await stream(sent)])).not.toContain("secret-7");
    expect(entries).toEqual([sent.tools[0], sent.tools[0]]);
  });

  test("streams default events and the same response", async () => {
    const { stream } = await startProvider([dice], rollAndSay);
    const events = await stream(offered);
    expect(listTypes(events).slice(0, 6)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.dice_call.in_progress",
      "response.dice_call.completed",
      "response.output_item.done",
    ]);
    const [, , added, running, , done] = events;
    const item = { id: expect.any(String), type: "dice_call" };
    expect(added?.["item"]).toEqual({ ...item, status: "in_progress" });
    expect(running).toMatchObject({ output_index: 0, item_id: Object(added?.["item"]).id });
    expect(done?.["item"]).toEqual({ ...item, status: "completed", sides: 6, rolled: 6 });
    const last = Object(events.at(-1)?.["response"]);
    expect(last).toMatchObject({ status: "completed", output: [done?.["item"], {}] });
  });

  test("streams its own events, also for a failed call", async () => {
    const events: LocalToolItem["events"] = (item) => ({
      added: { id: item["id"], type: item["type"], rolled: null },
      running: [{ type: "response.dice_call.shaking", item_id: item["id"] }],
      finished: [{ type: "response.dice_call.stopped" }],
    });
    const own = await startProvider([createDice({}, { events })], rollAndSay);
    expect(listTypes(await own.stream(offered)).slice(2, 6)).toEqual([
      "response.output_item.added",
      "response.dice_call.shaking",
      "response.dice_call.stopped",
      "response.output_item.done",
    ]);
    const failing = createDice({ run: () => ({ status: "failed" }) });
    const lost = await startProvider([failing], rollAndSay);
    expect(listTypes(await lost.stream(offered))).toContain("response.dice_call.failed");
  });

  test("can be named by its aliases in tools and tool_choice", async () => {
    const tool = createDice({ aliases: ["die", "dice_2026"] });
    const { respond, ask } = await startProvider([tool], () => [roll, { say: "Six." }]);
    for (const type of ["dice", "die", "dice_2026"]) {
      const body = { input: "Roll.", tools: [{ type }], tool_choice: { type: "die" } };
      expect(findItem(await respond(body), "dice_call")).toMatchObject({ rolled: 6 });
    }
    const unknown = { ...offered, model: "m", tools: [{ type: "d" }] };
    const { body } = await ask("POST /responses", unknown);
    expect(Object(body["error"]).message).toContain(
      "'apply_patch', 'dice', 'die', and 'dice_2026'",
    );
  });

  test("can cite its hits and files that its code created", async () => {
    const finder: LocalTool = {
      kind: "finder",
      items: { finder_call: { containerAt: ["container_id"] } },
      containerField: "place",
      async run({ entry }, { cite, containers, newId }) {
        cite([{ type: "url", url: "https://owls.example", title: "Owls" }]);
        const id = await containers.resolve(entry["place"]);
        const { stdout } = await containers.python(
          id,
          'open("owl.txt", "w").write("hu")\nprint(1)',
        );
        const { exitCode } = await containers.shell(id, "true");
        return { id: newId("find_"), container_id: id, stdout, exitCode };
      },
    };
    const use = { use: { kind: "finder", args: {} } };
    const say = { say: "Hu.", citations: [{ hit: 0 }, { file: "owl.txt" }] };
    const { respond, ask } = await startProvider([finder], () => [use, say]);
    const body = { input: "Go.", tools: [{ type: "finder" }] };
    const first = await respond(body);
    const call = findItem(first, "finder_call");
    expect(call).toMatchObject({ id: expect.stringMatching(/^find_/), exitCode: 0, stdout: "1\n" });
    expect(readAnnotations(first)).toMatchObject([
      { type: "url_citation", url: "https://owls.example", title: "Owls" },
      { type: "container_file_citation", container_id: call["container_id"], filename: "owl.txt" },
    ]);
    const next = await respond({ ...body, previous_response_id: first["id"] });
    expect(findItem(next, "finder_call")["container_id"]).toBe(call["container_id"]);
    const lost = { ...body, model: "any", tools: [{ type: "finder", place: "cntr_gone" }] };
    expect(await ask("POST /responses", lost)).toMatchObject({ status: 404 });
  });

  test("can be an instance of a class, and is copied", async () => {
    class Coin {
      kind = "coin";
      readonly items = { coin_call: {} };
      readonly #sides = 2;
      check(entry: unknown) {
        return Object(entry).sides === this.#sides ? null : "A coin has two sides.";
      }
      run() {
        return { sides: this.#sides };
      }
    }
    const coin = new Coin();
    const script = [[{ use: { kind: "coin", args: {} } }, { say: "Heads." }]];
    const { respond } = await startProvider([coin], script);
    coin.kind = "dice";
    coin.run = () => ({ sides: 9 });
    const response = await respond({ input: "Toss.", tools: [{ type: "coin", sides: 2 }] });
    expect(findItem(response, "coin_call")).toMatchObject({ sides: 2 });
  });
});

describe("a request with a custom tool", () => {
  test("is rejected by the tool's check and checkChoice", async () => {
    const tool = createDice({
      check: (value, path) =>
        Object(value).color === "red" ? null : `Invalid value for '${path}.color': use 'red'.`,
      checkChoice: () => new Error("Dice cannot be chosen."),
    });
    const { ask } = await startProvider([tool], rollAndSay);
    const requestTool = async (more: object) =>
      await ask("POST /responses", { model: "any", ...offered, ...more });
    expect(await requestTool({ tools: [{ type: "dice", color: "blue" }] })).toMatchObject({
      status: 400,
      body: {
        error: {
          message: "Invalid value for 'tools[0].color': use 'red'.",
          type: "invalid_request_error",
          param: "tools[0]",
          code: "invalid_value",
        },
      },
    });
    expect(await requestTool({ tool_choice: { type: "dice" } })).toMatchObject({
      status: 400,
      body: { error: { message: "Dice cannot be chosen.", param: "tool_choice" } },
    });
    expect(await requestTool({})).toMatchObject({ status: 200 });
  });

  test("is rejected if it chooses a tool that is not offered, or adds fields to the choice", async () => {
    const { ask } = await startProvider([dice], rollAndSay);
    const choose = async (tool_choice: object, tools: readonly object[]) =>
      await ask("POST /responses", { model: "any", input: "Roll.", tools, tool_choice });
    expect(await choose({ type: "dice" }, [{ type: "web_search" }])).toMatchObject({
      status: 400,
      body: { error: { message: "Tool choice 'dice' not found in 'tools' parameter." } },
    });
    expect(await choose({ type: "dice", sides: 6 }, [{ type: "dice" }])).toMatchObject({
      status: 400,
      body: { error: { param: "tool_choice.sides", code: "unknown_parameter" } },
    });
  });

  test("is limited to its allowed_tools", async () => {
    const { ask, respond } = await startProvider([dice], () => [roll, { say: "Six." }]);
    const allow = (type: string) => ({
      input: "Roll.",
      tools: [{ type: "dice" }, { type: "web_search" }],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type }] },
    });
    expect(findItem(await respond(allow("dice")), "dice_call")).toMatchObject({ rolled: 6 });
    const other = await ask("POST /responses", { model: "any", ...allow("web_search") });
    expect(other).toMatchObject({ status: 500, body: { error: { code: "model_error" } } });
    expect(Object(other.body["error"]).message).toBe(
      'Step 2 failed: the model used the tool \'dice\', but the request does not offer dice. It offers only the hosted tool "web_search", because its tool_choice is {"type":"allowed_tools","mode":"auto","tools":[{"type":"web_search"}]}. Change the step, or offer the tool.',
    );
  });

  test("makes the echo model call it once with the smallest arguments", async () => {
    const parameters = {
      type: "object",
      properties: { sides: { type: "integer", minimum: 4 } },
      required: ["sides"],
    };
    const tool = createDice({ description: "Rolls.", parameters });
    const { respond } = await startProvider([tool], [], { model: echoModel() });
    for (const tool_choice of [{ type: "dice" }, "required"]) {
      const response = await respond({ ...offered, tool_choice });
      expect(findItem(response, "dice_call")).toMatchObject({ sides: 4 });
      expect(readAnswer(response)).toBe("You said: Roll.");
    }
    expect(readOutput(await respond(offered))).toHaveLength(1);
  });

  test("has at most max_tool_calls calls", async () => {
    const script = [[roll, roll, roll, { say: "Enough." }]];
    const { respond } = await startProvider([dice], script);
    const response = await respond({ ...offered, max_tool_calls: 2 });
    expect(readOutput(response).map(({ type }) => type)).toEqual([
      "dice_call",
      "dice_call",
      "message",
    ]);
  });

  test("shows only included fields in responses, streams and input items", async () => {
    const item: LocalToolItem = {
      includes: { "dice_call.sides": ({ sides: _sides, ...rest }) => rest },
    };
    const tool = createDice({}, item);
    const { ask, respond, stream } = await startProvider([tool], () => [roll, { say: "Six." }]);
    const include = ["dice_call.sides"];
    const hidden = await respond(offered);
    expect(findItem(hidden, "dice_call")).not.toHaveProperty("sides");
    const shown = findItem(await respond({ ...offered, include }), "dice_call");
    expect(shown).toMatchObject({ sides: 6 });
    const done = (await stream({ ...offered, include })).find(
      ({ type }) => type === "response.output_item.done",
    );
    expect(done?.["item"]).toMatchObject({ sides: 6 });
    const next = await respond({ ...offered, previous_response_id: hidden["id"] });
    const items = async (query: string) => {
      const { body } = await ask(`GET /responses/${next["id"]}/input_items${query}`);
      return (body["data"] as readonly WireItem[]).find(({ type }) => type === "dice_call");
    };
    expect(await items("")).not.toHaveProperty("sides");
    expect(await items("?include[]=dice_call.sides")).toMatchObject({ sides: 6, rolled: 6 });
    const { body } = await ask("POST /responses", { model: "m", ...offered, include: ["dice"] });
    expect(Object(body["error"]).message).toContain("and 'dice_call.sides'");
  });
});

describe("a conversation with a custom tool", () => {
  const item: LocalToolItem = {
    check: (value, path) =>
      Number.isInteger(Object(value).rolled) ? null : `'${path}.rolled' must be an integer.`,
  };

  test("continues from a stored response, and can be read back", async () => {
    const seen: unknown[] = [];
    const { respond, ask } = await startProvider([createDice({}, item)], ({ items, turn }) => {
      seen.push(items.map((one) => Object(one).type));
      return turn === 0 ? [roll, { say: "Six." }] : [{ say: "Again six." }];
    });
    const first = await respond(offered);
    await respond({ input: "And now?", previous_response_id: first["id"] });
    expect(seen[1]).toEqual(["message", "dice_call", "message", "message"]);
    const { body } = await ask(`GET /responses/${first["id"]}`);
    expect(body["output"]).toEqual(first["output"]);
  });

  test("continues from items that the client sends, which the tool checks", async () => {
    const script = () => [roll, { say: "Six." }];
    const { respond, ask } = await startProvider([createDice({}, item)], script);
    const first = await respond({ ...offered, store: false });
    const call = findItem(first, "dice_call");
    const input = [{ role: "user", content: "Roll." }, ...readOutput(first)];
    expect(readAnswer(await respond({ ...offered, store: false, input }))).toBe("Six.");
    const send = async (given: object) =>
      await ask("POST /responses", { model: "any", ...offered, input: [given] });
    expect(await send({ ...call, rolled: "six" })).toMatchObject({
      status: 400,
      body: { error: { message: "'input[0].rolled' must be an integer.", param: "input[0]" } },
    });
    const { id: _id, ...bare } = call;
    expect(await send(bare)).toMatchObject({
      status: 400,
      body: { error: { message: "Missing required parameter: 'input[0].id'." } },
    });
    expect(await send({ ...call, id: 7 })).toMatchObject({ status: 400 });
  });

  test("continues from a compaction", async () => {
    const seen: (readonly object[])[] = [];
    const { respond, ask } = await startProvider([dice], ({ items, turn }) => {
      seen.push(items);
      return turn === 0 ? [roll, { say: "Six." }] : [{ say: "Six, as I said." }];
    });
    const first = await respond(offered);
    const compacted = await ask("POST /responses/compact", {
      model: "any",
      previous_response_id: first["id"],
    });
    const window = compacted.body["output"] as readonly object[];
    expect(window.map((one) => Object(one).type)).toEqual(["message", "compaction"]);
    await respond({ input: [...window, { role: "user", content: "What was it?" }] });
    expect(seen[1]?.filter((one) => Object(one).type === "dice_call")).toMatchObject([
      { rolled: 6 },
    ]);
  });

  test("has its calls counted as tokens", async () => {
    const { ask } = await startProvider([dice], []);
    const counted = await ask("POST /responses/input_tokens", { model: "any", ...offered });
    expect(counted).toMatchObject({ status: 200, body: { object: "response.input_tokens" } });
  });
});

describe("a custom tool call that the client answers", () => {
  const ask6: LocalTool = {
    kind: "human",
    items: { human_call: { answer: "human_call_output" }, human_call_output: {} },
    run: ({ args }) => ({ question: args["question"] }),
  };
  const use = { use: { kind: "human", args: { question: "Six?" } } };
  const tools = [{ type: "human" }];

  test("ends the turn and continues with the answer", async () => {
    const { respond, stream } = await startProvider([ask6], ({ items }) =>
      Object(items.at(-1)).type === "human_call_output" ? [{ say: "Good." }] : [use],
    );
    const first = await respond({ input: "Go.", tools, max_tool_calls: 1 });
    expect(readOutput(first)).toMatchObject([
      { type: "human_call", call_id: expect.stringMatching(/^call_/), question: "Six?" },
    ]);
    const { call_id } = findItem(first, "human_call");
    const answer = { type: "human_call_output", call_id, output: "Yes." };
    const next = { input: [answer], tools, previous_response_id: first["id"] };
    expect(readAnswer(await respond(next))).toBe("Good.");
    expect(listTypes(await stream({ input: "Go.", tools }))).toContain(
      "response.human_call.in_progress",
    );
  });

  test("is rejected without its answer, as is an answer without its call", async () => {
    const { ask, respond } = await startProvider([ask6], () => [use]);
    const first = await respond({ input: "Go.", tools });
    const { call_id } = findItem(first, "human_call");
    const send = async (input: unknown, previous: unknown) => {
      const sent = { model: "any", input, tools, previous_response_id: previous };
      const { status, body } = await ask("POST /responses", sent);
      return [status, Object(body["error"]).message];
    };
    expect(await send("Well?", first["id"])).toEqual([
      400,
      `No tool output found for human call ${call_id}.`,
    ]);
    const answer = { type: "human_call_output", call_id: "call_9", output: "Yes." };
    expect(await send([answer], null)).toEqual([
      400,
      "No tool call found for human call output with call_id call_9.",
    ]);
    expect(await send([{ type: "human_call_output" }], null)).toEqual([
      400,
      "Missing required parameter: 'input[0].call_id'.",
    ]);
  });

  test("can get its answer from the provider", async () => {
    const hosted: LocalTool = {
      ...ask6,
      items: {
        human_call: { answer: "human_call_output", needsAnswer: () => false },
        human_call_output: {},
      },
      run: (_call, { newId }) => {
        const call_id = newId("call_");
        return [
          { type: "human_call", call_id },
          { type: "human_call_output", call_id, output: "Yes." },
        ];
      },
    };
    const { respond } = await startProvider(
      [hosted],
      [[use], [{ say: "Good." }], [{ say: "Better." }]],
    );
    const response = await respond({ input: "Go.", tools });
    expect(readOutput(response).map(({ type }) => type)).toEqual([
      "human_call",
      "human_call_output",
      "message",
    ]);
    const next = { input: "Go on.", tools, previous_response_id: response["id"] };
    expect(readAnswer(await respond(next))).toBe("Better.");
  });
});
