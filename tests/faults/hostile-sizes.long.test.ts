import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { Session, toolLog, webSearchTool } from "weakincentives";
import { historySlice } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import {
  createFaultSetup,
  createResponseText,
  createTextResponse,
  type FaultSetup,
  getConversationItems,
} from "../support/faults/fault-setup.ts";
import { clients } from "../support/openai-clients.ts";
import { functionCall, message, webSearchCall } from "../support/wire-server.ts";

const addition = functionCall("add", { a: 1, b: 2 }, "call_1");
const calling = JSON.stringify(addition);
const sum = { type: "function_call_output", call_id: "call_1", output: "3" };
const createText = (count: number) => "x".repeat(count * 1024 * 1024);
/** The items themselves are invalid. */
const server = { invalid: "allowed" } as const;
const slow = { timeout: 20_000 };

describe.each(clients)("on %s, a very long response", slow, (_name, client) => {
  test("with 10 MB in a message is accepted and sent back", async () => {
    const long = message(createText(10));
    await using at = await createFaultSetup(client, [[long, addition], [message("Three.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(at.turns[1]?.text.length).toBeGreaterThan(10 * 1024 * 1024);
    expect(getConversationItems(at.turns[1]).slice(1)).toMatchObject([addition, sum]);
  });

  test("with 10 MB in a hosted call is accepted and sent back", async () => {
    const search = webSearchCall(createText(10));
    await using at = await createFaultSetup(client, [[search, addition], [message("Three.")]], {
      hostedTools: [webSearchTool()],
    });
    const response = await at.evaluate();
    expect(response.hostedCalls).toHaveLength(1);
    expect(at.turns[1]?.text.length).toBeGreaterThan(20 * 1024 * 1024); // in query and queries
  });

  test("with 10 MB of arguments gets a short result", async () => {
    const call = functionCall("add", JSON.stringify({ a: createText(10), b: 2 }), "call_1");
    await using at = await createFaultSetup(client, [[call], [message("Done.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Done." });
    const [, answer] = getConversationItems(at.turns[1]);
    expect(Object(answer).output.length).toBeLessThan(1_000);
  });

  test("with a 10 MB error message becomes a short error", async () => {
    const error = { message: createText(10), code: createText(1), param: createText(1) };
    await using at = await createFaultSetup(client, [{ status: 400, error }]);
    const { message: said } = Object(await at.getFailure());
    expect(said).toContain("status 400");
    expect(said.length).toBeLessThan(1_000);
    expect(JSON.stringify(at.logged).length).toBeLessThan(2_000);
  });

  test("with a 10 MB error message and status 200 becomes a short error", async () => {
    const error = { message: createText(10), code: createText(1) };
    await using at = await createFaultSetup(client, [{ json: { error } }]);
    const { message: said } = Object(await at.getFailure());
    expect(said.length).toBeLessThan(2_000);
  });

  test("with 5,000 items is accepted and sent back completely", async () => {
    const items = Array.from({ length: 5_000 }, (_, index) =>
      index % 2 === 0
        ? { ...webSearchCall(`owl ${index}`), id: `ws_${index}` }
        : { ...message(`${index},`), id: `msg_${index}` },
    );
    const hostedTools = [webSearchTool()];
    const script = [[...items, addition], [message("Three.")]];
    await using at = await createFaultSetup(client, script, { hostedTools });
    const response = await at.evaluate();
    expect(response.hostedCalls).toHaveLength(2_500);
    const sent = getConversationItems(at.turns[1]);
    expect(sent.map((item) => Object(item).id).slice(0, -1)).toEqual([
      ...items.map(({ id }) => id),
      "fc_1",
    ]);
    expect(at.bus.of("ToolInvoked")).toHaveLength(2_501);
  });
});

const nest = (levels: number, [open, close]: [string, string] = ["[", "]"]) =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;
const objects: [string, string] = ['{"a":', "}"];

const expectUsable = async (at: FaultSetup) => {
  expect(await at.evaluate()).toMatchObject({ text: "Fresh." });
  expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Fresher." });
};
const fresh = [[message("Fresh.")], [message("Fresher.")]];

describe.each(clients)("on %s, JSON nested 100,000 levels deep", slow, (_name, client) => {
  test.each([
    ["lists", nest(100_000)],
    ["objects", nest(100_000, objects)],
  ])("in %s within an item is rejected, and the session stays usable", async (_what, deep) => {
    const items = [`{"type":"odd","x":${deep}}`, calling];
    const script = [createTextResponse(createResponseText(items)), ...fresh];
    await using at = await createFaultSetup(client, script, { server });
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      message: expect.stringMatching(/"odd".*nested.*1000 levels/),
    });
    expect(at.additions).toEqual([]);
    await expectUsable(at);
  });

  test("within a hosted call is rejected, and the session stays usable", async () => {
    const search = `{"type":"web_search_call","id":"ws_1","action":{"sources":${nest(100_000)}}}`;
    const script = [createTextResponse(createResponseText([search, calling])), ...fresh];
    await using at = await createFaultSetup(client, script, {
      server,
      hostedTools: [webSearchTool()],
    });
    const error = await at.getFailure();
    expect(error).toMatchObject({ name: "PromptEvaluationError" });
    await expectUsable(at);
  });

  test("within a message is rejected, and the session stays usable", async () => {
    const said = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi.","annotations":${nest(100_000)}}]}`;
    await using at = await createFaultSetup(
      client,
      [createTextResponse(createResponseText([said])), ...fresh],
      { server },
    );
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      message: expect.stringMatching(/nested.*1000 levels/),
    });
    await expectUsable(at);
  });

  test("within arguments that are an object is rejected", async () => {
    const call = `{"type":"function_call","call_id":"call_1","name":"add","arguments":${nest(100_000, objects)}}`;
    await using at = await createFaultSetup(
      client,
      [createTextResponse(createResponseText([call])), ...fresh],
      { server },
    );
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      message: expect.stringMatching(/nested/),
    });
    await expectUsable(at);
  });

  test.each([
    ["lists", nest(100_000)],
    ["objects", nest(100_000, objects)],
  ])("in %s within the arguments' text is reported to the model", async (_what, deep) => {
    const args = `{"a":${deep},"b":2}`;
    const script = [[functionCall("add", args, "call_1")], ...fresh];
    const bus = recordingBus();
    const session = new Session({ bus }).register(toolLog);
    await using at = await createFaultSetup(client, script, { session });
    await expectUsable(at);
    const [, answer] = getConversationItems(at.turns[1]);
    expect(answer).toMatchObject({ output: expect.stringContaining("do not fit") });
    expect(bus.of("ReducerFailed")).toEqual([]);
  });

  test("outside the output is ignored", async () => {
    const rest = `{"id":"resp_1","status":"completed","metadata":${nest(100_000)}`;
    const script = [createTextResponse(`${rest},"output":[${JSON.stringify(message("Hi."))}]}`)];
    await using at = await createFaultSetup(client, script);
    expect(await at.evaluate()).toMatchObject({ text: "Hi." });
  });

  test("of 500 levels in a stored session can be stored again", async () => {
    const items = [`{"type":"odd","x":${nest(500)}}`, calling];
    const script = [
      createTextResponse(createResponseText(items)),
      [message("Three.")],
      [message("Four.")],
    ];
    await using at = await createFaultSetup(client, script, { server });
    await at.evaluate();
    const session = Session.parse(at.session.serialize(), [historySlice]);
    expect(await at.evaluate({ session, continue: true })).toMatchObject({ text: "Four." });
    expect(getConversationItems(at.turns[2])).toHaveLength(5);
  });
});

describe.each(clients)("on %s, JSON nested", slow, (_name, client) => {
  test.each([1_200, 2_500, 4_000])(
    "%i levels deep is either accepted or rejected",
    async (levels) => {
      const items = [`{"type":"odd","x":${nest(levels)}}`, calling];
      const deep = createTextResponse(createResponseText(items));
      let asked = 0;
      const script = () => (asked++ === 0 ? deep : [message("Done.")]);
      await using at = await createFaultSetup(client, script, { server });
      const words = /nested/;
      await at.evaluate().catch(({ message: said }) => expect(said).toMatch(words));
      expect(await at.evaluate({ continue: true })).toMatchObject({ text: "Done." });
      const session = Session.parse(at.session.serialize(), [historySlice]);
      expect(await at.evaluate({ session, continue: true })).toMatchObject({ text: "Done." });
    },
  );

  test.each([20_000, 100_000])(
    "%i levels deep within an error is reported with its message",
    async (levels) => {
      const body = `{"error":{"message":"Too deep.","x":${nest(levels)}}}`;
      const refused = {
        raw: (_request: unknown, response: ServerResponse) =>
          void response.writeHead(400, { "content-type": "application/json" }).end(body),
      };
      await using at = await createFaultSetup(client, [
        refused,
        createTextResponse(body),
        ...fresh,
      ]);
      const words = { name: "PromptEvaluationError", message: expect.stringContaining("Too deep") };
      expect(await at.getFailure()).toMatchObject(words);
      expect(await at.getFailure()).toMatchObject(words);
      await expectUsable(at);
    },
  );
});
