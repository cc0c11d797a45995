import { inspect } from "node:util";
import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { fakeClock, recordingBus } from "weakincentives/testing";
import {
  type CompactionRouteOptions,
  compactionRoutes,
  sealedItem,
} from "../../../tests/support/compaction/routes.ts";
import { testKey } from "../../../tests/support/openai-clients.ts";
import { wireServer } from "../../../tests/support/wire-server.ts";
import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { Session } from "../../session/session.ts";
import { CompactionError } from "../errors/errors.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import type { OpenAIClient } from "../http/client.ts";
import { openAIClient } from "../http/http-client.ts";
import { CompactionManager } from "./compaction-manager.ts";
import { compactionSlice } from "./compaction-state.ts";

const user = { type: "message", role: "user", content: "A fact." };
const answer = { type: "message", role: "assistant", content: "Long." };
const clock = fakeClock({ skipsSleep: true });

async function managed(options: CompactionRouteOptions = {}) {
  const made = compactionRoutes(options);
  const server = await wireServer([], { routes: made.routes });
  onTestFinished(() => server.close());
  const client = openAIClient({ baseURL: server.url, apiKey: testKey });
  const bus = recordingBus();
  const session = new Session({ bus });
  const about = { model: "gpt-5.2", instructions: "Go.", clock };
  const manager = new CompactionManager(client, { thresholdTokens: 10 }, session, about);
  return { ...made, client, session, bus, manager };
}

describe("a compaction manager", () => {
  it("says yes from one token over the threshold on, and not at it", () => {
    const make = (config: object) =>
      new CompactionManager(openAIClient({ apiKey: testKey }), config, new Session(), {
        model: "m",
      });
    expect([9, 10, 11].map((n) => make({ thresholdTokens: 10 }).shouldCompact(n))).toEqual([
      false,
      false,
      true,
    ]);
    expect([100_000, 100_001].map((n) => make({}).shouldCompact(n))).toEqual([false, true]);
    expect(make({ enabled: false, thresholdTokens: 10 }).shouldCompact(11)).toBe(false);
  });

  it("has the items compacted, keeps in the session what comes, and gives it", async () => {
    const { manager, session, compactions } = await managed();
    expect(await manager.compact([user, answer], 11)).toEqual([user, sealedItem(1)]);
    expect(compactions[0]?.body).toEqual({
      model: "gpt-5.2",
      input: [user, answer],
      instructions: "Go.",
    });
    expect(manager.state).toBe(session.get(compactionSlice));
    expect(manager.state).toEqual({
      encryptedItems: [sealedItem(1)],
      window: [user, sealedItem(1)],
      lastCompactionTokens: 11,
      compactionCount: 1,
      model: "gpt-5.2",
    });
    await manager.compact([user, sealedItem(1), answer]);
    expect(manager.state).toMatchObject({ compactionCount: 2, lastCompactionTokens: 0 });
  });

  it("puts what is kept before the items, once, whatever it is called with", async () => {
    const { manager, session } = await managed();
    expect(manager.injectEncryptedItems([answer])).toEqual([answer]);
    const window = await manager.compact([user, answer], 11);
    const items = manager.injectEncryptedItems([answer]);
    expect(items).toEqual([...window, answer]);
    expect(manager.injectEncryptedItems(items)).toEqual(items);
    expect(manager.injectEncryptedItems(window)).toEqual(window);
    const parsed = Session.parse(session.serialize(), [compactionSlice]);
    const about = { model: "gpt-5.2" };
    const later = new CompactionManager(openAIClient({ apiKey: testKey }), {}, parsed, about);
    expect(later.injectEncryptedItems([user, answer])).toEqual([sealedItem(1), user, answer]);
  });

  it("puts nothing before the items of another model", async () => {
    const { manager, session, client } = await managed();
    await manager.compact([user], 11);
    const other = new CompactionManager(client, {}, session, { model: "gpt-6" });
    expect(other.injectEncryptedItems([answer])).toEqual([answer]);
  });

  it("waits until a throttled provider takes it", async () => {
    const { manager, compactions } = await managed({
      window: (nth) =>
        nth < 3 ? { status: 429, error: { message: "Slow down." } } : [sealedItem(nth)],
    });
    expect(await manager.compact([user], 11)).toEqual([sealedItem(3)]);
    expect(compactions).toHaveLength(3);
  });

  it("fails with an error that says how long the conversation was and why, and changes nothing", async () => {
    const { manager, session } = await managed({
      window: (nth) =>
        nth === 1 ? [sealedItem(1)] : { status: 400, error: { message: "Too long." } },
    });
    await manager.compact([user], 11);
    const before = session.get(compactionSlice);
    const error = await manager.compact([user, answer], 12).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CompactionError);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toBeInstanceOf(WinkError);
    expect(error).toMatchObject({
      name: "CompactionError",
      tokenCount: 12,
      phase: "request",
      message: expect.stringMatching(
        /^The conversation of 12 tokens could not be compacted: .*Too long/,
      ),
    });
    const { originalError, cause } = error as CompactionError;
    expect(originalError).toBeInstanceOf(OpenAIRequestError);
    expect(cause).toBe(originalError);
    expect(session.get(compactionSlice)).toBe(before);
  });

  it("tells of what it keeps in an event that shows only its length, and has all of it", async () => {
    const { manager, bus } = await managed();
    await manager.compact([user, answer], 11);
    const [kept] = bus.of("CompactionKept");
    expect(kept?.window).toEqual([user, sealedItem(1)]);
    expect(JSON.stringify(kept)).toContain("sealed 1");
    expect(inspect(kept, { depth: 9 })).toContain("[8 characters]");
    expect(inspect(kept, { depth: 9 })).not.toContain("sealed 1");
    expect(inspect(manager.state, { depth: 9 })).not.toContain("sealed 1");
  });

  it("takes the official client as it is", async () => {
    const { routes } = compactionRoutes();
    const server = await wireServer([], { routes });
    onTestFinished(() => server.close());
    const client = new OpenAI({ apiKey: testKey, baseURL: server.url });
    const manager = new CompactionManager(client, {}, new Session(), { model: "gpt-5.2" });
    expect(await manager.compact([user], 11)).toEqual([user, sealedItem(1)]);
  });
});

describe("a compaction manager is refused", () => {
  const client = openAIClient({ apiKey: testKey });

  it("without a client that can compact", () => {
    const old = { responses: { create: () => null } } as unknown as OpenAIClient;
    const make = () => new CompactionManager(old, {}, new Session(), { model: "m" });
    expect(make).toThrow(InvalidOptionError);
    expect(make).toThrow(
      /CompactionManager\(client\) must be a client that can compact.*openAIClient/,
    );
  });

  it("without a session", () => {
    const make = () => new CompactionManager(client, {}, {} as Session, { model: "m" });
    expect(make).toThrow(/CompactionManager\(session\) must be a Session.*new Session/);
  });

  it("without a model, and with a config that cannot be", () => {
    const session = new Session();
    const without = () => new CompactionManager(client, {}, session, {} as { model: string });
    expect(without).toThrow("CompactionManager(options).model");
    const wrong = () =>
      new CompactionManager(client, { thresholdTokens: 0 }, session, { model: "m" });
    expect(wrong).toThrow("CompactionManager(config).thresholdTokens");
  });
});
