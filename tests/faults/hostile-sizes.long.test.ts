import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { Session, toolLog, webSearchTool } from "weakincentives";
import { historySlice } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import {
  conversationOf,
  responseText,
  type Stage,
  stage,
  textAnswer,
} from "../support/faults/stage.ts";
import { clients } from "../support/openai-clients.ts";
import { functionCall, message, webSearchCall } from "../support/wire-server.ts";

const addition = functionCall("add", { a: 1, b: 2 }, "call_1");
const calling = JSON.stringify(addition);
const sum = { type: "function_call_output", call_id: "call_1", output: "3" };
const megabytes = (count: number) => "x".repeat(count * 1024 * 1024);
/** The items themselves are nonsense. */
const server = { invalid: "allowed" } as const;
const slow = { timeout: 20_000 };

describe.each(clients)("on %s, an answer of great length", slow, (_name, client) => {
  test("with 10 MB in a message is taken and sent back", async () => {
    const long = message(megabytes(10));
    await using at = await stage(client, [[long, addition], [message("Three.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(at.turns[1]?.text.length).toBeGreaterThan(10 * 1024 * 1024);
    expect(conversationOf(at.turns[1]).slice(1)).toMatchObject([addition, sum]);
  });

  test("with 10 MB in a hosted call is taken and sent back", async () => {
    const search = webSearchCall(megabytes(10));
    await using at = await stage(client, [[search, addition], [message("Three.")]], {
      hostedTools: [webSearchTool()],
    });
    const response = await at.evaluate();
    expect(response.hostedCalls).toHaveLength(1);
    expect(at.turns[1]?.text.length).toBeGreaterThan(20 * 1024 * 1024); // in query and queries
  });

  test("with 10 MB of arguments is answered", async () => {
    const call = functionCall("add", JSON.stringify({ a: megabytes(10), b: 2 }), "call_1");
    await using at = await stage(client, [[call], [message("Done.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    const [, answer] = conversationOf(at.turns[1]);
    expect(Object(answer).output.length).toBeLessThan(1_000);
  });

  test("that says no with 10 MB is an error of a few words", async () => {
    const error = { message: megabytes(10), code: megabytes(1), param: megabytes(1) };
    await using at = await stage(client, [{ status: 400, error }]);
    const { message: said } = Object(await at.failure());
    expect(said).toContain("status 400");
    expect(said.length).toBeLessThan(1_000);
    expect(JSON.stringify(at.logged).length).toBeLessThan(2_000);
  });

  test("that says no with 10 MB and status 200 is an error of a few words", async () => {
    const error = { message: megabytes(10), code: megabytes(1) };
    await using at = await stage(client, [{ json: { error } }]);
    const { message: said } = Object(await at.failure());
    expect(said.length).toBeLessThan(2_000);
  });

  test("with 5,000 items is taken, and each of them sent back", async () => {
    const items = Array.from({ length: 5_000 }, (_, index) =>
      index % 2 === 0
        ? { ...webSearchCall(`owl ${index}`), id: `ws_${index}` }
        : { ...message(`${index},`), id: `msg_${index}` },
    );
    const hostedTools = [webSearchTool()];
    const script = [[...items, addition], [message("Three.")]];
    await using at = await stage(client, script, { hostedTools });
    const response = await at.evaluate();
    expect(response.hostedCalls).toHaveLength(2_500);
    const sent = conversationOf(at.turns[1]);
    expect(sent.map((item) => Object(item).id).slice(0, -1)).toEqual([
      ...items.map(({ id }) => id),
      "fc_1",
    ]);
    expect(at.bus.of("ToolInvoked")).toHaveLength(2_501);
  });
});

const nested = (levels: number, [open, close]: [string, string] = ["[", "]"]) =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;
const objects: [string, string] = ['{"a":', "}"];

const isUsable = async (at: Stage) => {
  expect(await at.evaluate()).toMatchObject({ text: "Fresh." });
  expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Fresher." });
};
const fresh = [[message("Fresh.")], [message("Fresher.")]];

describe.each(clients)("on %s, what is nested 100,000 levels deep", slow, (_name, client) => {
  test.each([
    ["lists", nested(100_000)],
    ["objects", nested(100_000, objects)],
  ])("in %s within an item is refused in words, and the session goes on", async (_what, deep) => {
    const items = [`{"type":"odd","x":${deep}}`, calling];
    const script = [textAnswer(responseText(items)), ...fresh];
    await using at = await stage(client, script, { server });
    expect(await at.failure()).toMatchObject({
      name: "PromptEvaluationError",
      message: expect.stringMatching(/"odd".*nested.*1000 levels/),
    });
    expect(at.additions).toEqual([]);
    await isUsable(at);
  });

  test("within a hosted call is refused in words, and the session goes on", async () => {
    const search = `{"type":"web_search_call","id":"ws_1","action":{"sources":${nested(100_000)}}}`;
    const script = [textAnswer(responseText([search, calling])), ...fresh];
    await using at = await stage(client, script, { server, hostedTools: [webSearchTool()] });
    const error = await at.failure();
    expect(error).toMatchObject({ name: "PromptEvaluationError" });
    await isUsable(at);
  });

  test("within what a message says is borne or refused in words", async () => {
    const said = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi.","annotations":${nested(100_000)}}]}`;
    await using at = await stage(client, [textAnswer(responseText([said])), ...fresh], { server });
    expect(await at.failure()).toMatchObject({
      name: "PromptEvaluationError",
      message: expect.stringMatching(/nested.*1000 levels/),
    });
    await isUsable(at);
  });

  test("within arguments that are an object is refused in words", async () => {
    const call = `{"type":"function_call","call_id":"call_1","name":"add","arguments":${nested(100_000, objects)}}`;
    await using at = await stage(client, [textAnswer(responseText([call])), ...fresh], { server });
    expect(await at.failure()).toMatchObject({
      name: "PromptEvaluationError",
      message: expect.stringMatching(/nested/),
    });
    await isUsable(at);
  });

  test.each([
    ["lists", nested(100_000)],
    ["objects", nested(100_000, objects)],
  ])("in %s within the text of arguments is the model's mistake", async (_what, deep) => {
    const args = `{"a":${deep},"b":2}`;
    const script = [[functionCall("add", args, "call_1")], ...fresh];
    const bus = recordingBus();
    const session = new Session({ bus }).register(toolLog);
    await using at = await stage(client, script, { session });
    await isUsable(at);
    const [, answer] = conversationOf(at.turns[1]);
    expect(answer).toMatchObject({ output: expect.stringContaining("do not fit") });
    expect(bus.of("ReducerFailed")).toEqual([]);
  });

  test("beside the output is no matter", async () => {
    const rest = `{"id":"resp_1","status":"completed","metadata":${nested(100_000)}`;
    const script = [textAnswer(`${rest},"output":[${JSON.stringify(message("Hi."))}]}`)];
    await using at = await stage(client, script);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
  });

  test("in a session that has kept deep items before can be kept again", async () => {
    const items = [`{"type":"odd","x":${nested(500)}}`, calling];
    const script = [textAnswer(responseText(items)), [message("Three.")], [message("Four.")]];
    await using at = await stage(client, script, { server });
    await at.evaluate();
    const session = Session.parse(at.session.serialize(), [historySlice]);
    expect(await at.evaluate({ session, continue: true })).toMatchObject({ text: "Four." });
    expect(conversationOf(at.turns[2])).toHaveLength(5);
  });
});

describe.each(clients)("on %s, what is nested", slow, (_name, client) => {
  test.each([1_200, 2_500, 4_000])(
    "%i levels deep is taken for good or refused in words",
    async (levels) => {
      const items = [`{"type":"odd","x":${nested(levels)}}`, calling];
      const deep = textAnswer(responseText(items));
      let asked = 0;
      const script = () => (asked++ === 0 ? deep : [message("Done.")]);
      await using at = await stage(client, script, { server });
      const words = /nested/;
      await at.evaluate().catch(({ message: said }) => expect(said).toMatch(words));
      expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Done." });
      const session = Session.parse(at.session.serialize(), [historySlice]);
      expect(await at.evaluate({ session, continue: true })).toMatchObject({ text: "Done." });
    },
  );

  test.each([20_000, 100_000])(
    "%i levels deep within an error is told by its words",
    async (levels) => {
      const body = `{"error":{"message":"Too deep.","x":${nested(levels)}}}`;
      const refused = {
        raw: (_request: unknown, response: ServerResponse) =>
          void response.writeHead(400, { "content-type": "application/json" }).end(body),
      };
      await using at = await stage(client, [refused, textAnswer(body), ...fresh]);
      const words = { name: "PromptEvaluationError", message: expect.stringContaining("Too deep") };
      expect(await at.failure()).toMatchObject(words);
      expect(await at.failure()).toMatchObject(words);
      await isUsable(at);
    },
  );
});
