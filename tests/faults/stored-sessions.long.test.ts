import { readdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Session, toolLog, webSearchTool } from "weakincentives";
import { historySlice } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { recordingBus } from "weakincentives/testing";
import {
  type CreateClientOptions,
  createFaultSetup,
  createResponseText,
  createTextResponse,
  type FaultSetup,
  type FaultSetupOptions,
  getConversationItems,
} from "../support/faults/fault-setup.ts";
import { clients, testKey } from "../support/openai-clients.ts";
import { temporaryTree } from "../support/temporary-tree.ts";
import {
  functionCall,
  message,
  type RouteAnswer,
  reasoning,
  type WireScript,
  webSearchCall,
} from "../support/wire-server.ts";

const addition = { ...functionCall("add", { a: 1, b: 2 }, "call_1"), id: "fc_1" };
const calling = JSON.stringify(addition);
const busy: RouteAnswer = { status: 503, error: { message: "Busy." } };
const bad: RouteAnswer = { status: 401, error: { message: "Bad key." } };
const cut: RouteAnswer = { raw: ({ socket }) => socket.destroy() };
const page = { bytes: "<html>", headers: { "content-type": "text/html" } };
const nonsense = { invalid: "allowed" } as const;
const slices = [historySlice, toolLog];

/** Runs `work` on a stored session, flushes it, and returns its folder. */
async function runInStore(
  client: CreateClientOptions,
  script: WireScript,
  work: (at: FaultSetup) => Promise<void>,
  setting: FaultSetupOptions = {},
): Promise<string> {
  const folder = temporaryTree();
  await using store = new JsonlSessionStore(folder);
  await using at = await createFaultSetup(client, script, { ...setting, store });
  at.session.register(toolLog);
  await work(at);
  await at.session.flush();
  return folder;
}

/** Opens a stored session as another process would, and continues it. */
async function continueSession(
  client: CreateClientOptions,
  folder: string,
  {
    script = [[message("Gone on.")]],
    ...setting
  }: FaultSetupOptions & { script?: WireScript } = {},
) {
  const cuts: object[] = [];
  await using store = new JsonlSessionStore(folder, { onRepair: (one) => void cuts.push(one) });
  const [id = ""] = await store.list();
  const bus = recordingBus();
  const session = await Session.open(store, id, slices, { bus });
  const found = session.get(historySlice);
  await using at = await createFaultSetup(client, script, { ...setting, session });
  const response = await at.evaluate({ continue: true });
  await session.flush();
  const repairs = bus.of("HistoryRepaired");
  return { found, response, repairs, cuts, sent: getConversationItems(at.turns[0]), session };
}

const findFile = (folder: string) =>
  join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl")) ?? "");

describe.each(clients)("on %s, a stored session", (_name, client) => {
  test.each<[string, readonly RouteAnswer[]]>([
    ["a busy server", [busy, busy, busy]],
    ["a rejected key", [bad]],
    ["closed connections", [cut, cut, cut]],
    ["an HTML page", [page]],
  ])("whose evaluation failed with %s can be opened and continued", async (_how, faults) => {
    const turn = [reasoning("rs_1"), message("Let me see."), addition];
    const folder = await runInStore(client, [turn, ...faults], async (at) => {
      await at.getFailure();
    });
    const { found, response, repairs, sent } = await continueSession(client, folder);
    expect(response).toMatchObject({ text: "Gone on." });
    const types = found.map((item) => Object(item).type);
    expect(types).toEqual(["message", "reasoning", "message", "function_call"]);
    expect(repairs).toMatchObject([{ dropped: [{ type: "function_call", id: "fc_1" }] }]);
    expect(sent).toMatchObject([{ type: "reasoning" }, { id: "msg_1" }, { role: "system" }]);
  });

  test("whose last evaluation had no response continues from the previous one", async () => {
    const folder = await runInStore(client, [[message("Hi.")], bad], async (at) => {
      await at.evaluate();
      await at.getFailure();
    });
    const { found, sent, repairs } = await continueSession(client, folder);
    expect(found).toHaveLength(2);
    expect(sent).toMatchObject([{ role: "assistant" }, { role: "system" }]);
    expect(repairs).toEqual([]);
  });

  test("with recovered failures is the same as one without", async () => {
    const script = [busy, [addition], cut, [message("Three.")]];
    const folder = await runInStore(client, script, async (at) => {
      expect(await at.evaluate()).toMatchObject({ text: "Three." });
    });
    const { sent, repairs, session } = await continueSession(client, folder);
    expect(sent).toMatchObject([addition, { output: "3" }, { role: "assistant" }, {}]);
    expect(repairs).toEqual([]);
    expect(session.get(toolLog)).toMatchObject([{ name: "add", callId: "call_1" }]);
  });

  test("retains a repair that the provider required", async () => {
    const complaint = { status: 404, error: { message: "Item with id 'ws_1' not found." } };
    const script = [[webSearchCall("owls"), addition], complaint, [message("Three.")]];
    const hostedTools = [webSearchTool()];
    const folder = await runInStore(client, script, async (at) => void (await at.evaluate()), {
      hostedTools,
    });
    const { sent, repairs } = await continueSession(client, folder);
    expect(sent).toMatchObject([addition, { output: "3" }, { role: "assistant" }, {}]);
    expect(repairs).toEqual([]);
  });

  test("whose process was killed while writing continues from the last complete record", async () => {
    const script = [[addition], [message("Three.")]];
    const folder = await runInStore(client, script, async (at) => void (await at.evaluate()));
    const file = findFile(folder);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const turn = lines.findLastIndex((line) => line.includes('"TurnCompleted"'));
    truncateSync(file, Buffer.byteLength(lines.slice(0, turn + 1).join("\n")) - 20);
    const { response, cuts, sent, repairs } = await continueSession(client, folder);
    expect(response).toMatchObject({ text: "Gone on." });
    expect(cuts).toHaveLength(1);
    expect(repairs).toMatchObject([{ dropped: [{ type: "function_call" }] }]);
    expect(sent).toEqual([]); // the prompt that was stored is not sent again
  });

  test("never contains the API key", async () => {
    const echo = { status: 401, error: { message: `Bad key: Bearer ${testKey}` } };
    const odd = { json: { error: { code: "x", message: `Bad key: Bearer ${testKey}` } } };
    const folder = await runInStore(client, [[addition], echo, [addition], odd], async (at) => {
      await at.getFailure();
      await at.getFailure();
    });
    expect(readFileSync(findFile(folder), "utf8")).not.toContain(testKey);
  });
});

describe.each(clients)("on %s, a stored session with an item", (_name, client) => {
  test.each([
    ["of an unknown type", '{"type":"telepathy_call","thought":{"x":[1,null]}}'],
    ["without a type", '{"id":"x_1"}'],
    ["with a __proto__ field", '{"type":"odd","__proto__":{"polluted":true},"constructor":1}'],
    ["with lone surrogates", '{"type":"odd","x":"\\ud800","\\udfff":"\\udc00"}'],
    ["with line breaks", '{"type":"odd","x":"\\n\\r\\u2028\\u0000"}'],
    ["whose type is an object", '{"type":{"toString":1},"id":{}}'],
    ["nested deeply", `{"type":"odd","x":${"[".repeat(500)}${"]".repeat(500)}}`],
  ])("%s can be opened and continued", async (_what, item) => {
    const script = [createTextResponse(createResponseText([item, calling])), [message("Three.")]];
    const folder = await runInStore(client, script, async (at) => void (await at.evaluate()), {
      server: nonsense,
    });
    const { sent, response } = await continueSession(client, folder, { server: nonsense });
    expect(response).toMatchObject({ text: "Gone on." });
    expect(JSON.stringify(sent[0])).toBe(JSON.stringify(JSON.parse(item)));
    expect(sent).toHaveLength(5);
    expect({}).not.toHaveProperty("polluted");
  });

  test.each([
    ["nested too deeply", `{"type":"odd","x":${"[".repeat(1_500)}${"]".repeat(1_500)}}`, /nested/],
    ["with an infinite number", '{"type":"odd","x":1e400}', /Infinity/],
  ])("%s is tolerated or rejected, and the session can be opened", async (_what, item, words) => {
    const script = [
      [message("Hi.")],
      createTextResponse(createResponseText([item, calling])),
      [message("Hm.")],
    ];
    const server = { ...nonsense, leftOver: "allowed" } as const;
    const work = async (at: FaultSetup) => {
      await at.evaluate();
      await at.evaluate({ continue: true }).catch((error: unknown) => {
        const said = expect.stringMatching(words);
        expect(error).toMatchObject({ name: "PromptEvaluationError", message: said });
      });
    };
    const folder = await runInStore(client, script, work, { server });
    const { response } = await continueSession(client, folder, { server });
    expect(response).toMatchObject({ text: "Gone on." });
  });

  test("of 2 MB is written once", async () => {
    const long = message("x".repeat(2 * 1024 * 1024));
    const folder = await runInStore(client, [[long, addition], [message("Three.")]], async (at) => {
      await at.evaluate();
    });
    expect(readFileSync(findFile(folder)).length).toBeLessThan(5 * 1024 * 1024);
    const { sent } = await continueSession(client, folder);
    expect(JSON.stringify(sent[0]).length).toBeGreaterThan(2 * 1024 * 1024);
  });
});
