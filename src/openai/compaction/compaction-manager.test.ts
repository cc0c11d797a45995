import { inspect } from "node:util";
import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { fakeClock, recordingBus } from "weakincentives/testing";
import {
  type CompactionRouteOptions,
  compactionRoutes,
  createEncryptedItem,
} from "../../../tests/support/compaction/compaction-routes.ts";
import { testKey } from "../../../tests/support/openai-clients.ts";
import { startWireServer } from "../../../tests/support/wire-server.ts";
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

async function startManager(options: CompactionRouteOptions = {}) {
  const compaction = compactionRoutes(options);
  const server = await startWireServer([], { routes: compaction.routes });
  onTestFinished(() => server.close());
  const client = openAIClient({ baseURL: server.url, apiKey: testKey });
  const bus = recordingBus();
  const session = new Session({ bus });
  const settings = { model: "gpt-5.2", instructions: "Go.", clock };
  const manager = new CompactionManager(client, { thresholdTokens: 10 }, session, settings);
  return { ...compaction, client, session, bus, manager };
}

describe("CompactionManager", () => {
  it("compacts only above the threshold, and never when disabled", () => {
    const create = (config: object) =>
      new CompactionManager(openAIClient({ apiKey: testKey }), config, new Session(), {
        model: "m",
      });
    expect([9, 10, 11].map((n) => create({ thresholdTokens: 10 }).shouldCompact(n))).toEqual([
      false,
      false,
      true,
    ]);
    expect([100_000, 100_001].map((n) => create({}).shouldCompact(n))).toEqual([false, true]);
    expect(create({ enabled: false, thresholdTokens: 10 }).shouldCompact(11)).toBe(false);
  });

  it("compacts items, stores the window in the session and returns it", async () => {
    const { manager, session, compactions } = await startManager();
    expect(await manager.compact([user, answer], 110)).toEqual([user, createEncryptedItem(1)]);
    expect(compactions[0]?.body).toEqual({
      model: "gpt-5.2",
      input: [user, answer],
      instructions: "Go.",
    });
    expect(manager.state).toBe(session.get(compactionSlice));
    expect(manager.state).toEqual({
      encryptedItems: [createEncryptedItem(1)],
      window: [user, createEncryptedItem(1)],
      lastCompactionTokens: 110,
      compactionCount: 1,
      model: "gpt-5.2",
      // The window itself exceeds the threshold.
      backoff: { unhelpfulCount: 0, nextAtTokens: 37 },
    });
    await manager.compact([user, createEncryptedItem(1), answer], 120);
    expect(manager.state).toMatchObject({ compactionCount: 2, lastCompactionTokens: 120 });
  });

  it("counts the tokens at the provider if they are not given, and publishes ContextCompacted", async () => {
    const { manager, bus, counts } = await startManager({ tokens: 200 });
    await manager.compact([user, answer]);
    expect(counts.map(({ body }) => body)).toEqual([
      { model: "gpt-5.2", input: [user, answer], instructions: "Go." },
    ]);
    expect(manager.state.lastCompactionTokens).toBe(200);
    expect(bus.of("ContextCompacted")).toMatchObject([
      {
        tokensBefore: 200,
        // 200 without the 89 compacted tokens, which became 14; the instructions are 1.
        tokensAfter: 125,
        savedRatio: 0.375,
        nextAtTokens: 127,
        strategy: "endpoint",
        itemsBefore: 2,
        itemsAfter: 2,
        usage: { totalTokens: 100 },
      },
    ]);
  });

  it("estimates the tokens if the provider cannot count them", async () => {
    const missing = { status: 404, error: { message: "Invalid URL." } };
    const { manager } = await startManager({ tokens: () => missing });
    await manager.compact([user, answer]);
    expect(manager.state.lastCompactionTokens).toBeGreaterThan(30);
  });

  it("has the counted or estimated tokens in its error", async () => {
    const refusal = { status: 400, error: { message: "Too long." } };
    const counted = await startManager({ tokens: 200, window: () => refusal });
    await expect(counted.manager.compact([user])).rejects.toThrow(
      "The conversation of 200 tokens could not be compacted",
    );
    const uncounted = await startManager({ tokens: () => refusal });
    const failure = await uncounted.manager.compact([user]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CompactionError);
    expect((failure as CompactionError).tokenCount).toBeGreaterThan(20);
    expect(uncounted.compactions).toEqual([]);
  });

  it("backs off after compactions that saved little", async () => {
    const { manager } = await startManager({
      window: (_nth, { body }) => Object(body).input, // nothing is shortened
    });
    const long = { ...answer, content: "Long. ".repeat(200) };
    expect(manager.shouldCompact(400)).toBe(true);
    await manager.compact([user, long], 400);
    expect(manager.state.backoff).toEqual({ unhelpfulCount: 1, nextAtTokens: 640 });
    expect([400, 640, 641].map((tokens) => manager.shouldCompact(tokens))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("puts the stored window before the items, once", async () => {
    const { manager, session } = await startManager();
    expect(manager.injectEncryptedItems([answer])).toEqual([answer]);
    const window = await manager.compact([user, answer], 11);
    const items = manager.injectEncryptedItems([answer]);
    expect(items).toEqual([...window, answer]);
    expect(manager.injectEncryptedItems(items)).toEqual(items);
    expect(manager.injectEncryptedItems(window)).toEqual(window);
    const parsed = Session.parse(session.serialize(), [compactionSlice]);
    const settings = { model: "gpt-5.2" };
    const later = new CompactionManager(openAIClient({ apiKey: testKey }), {}, parsed, settings);
    expect(later.injectEncryptedItems([user, answer])).toEqual([
      createEncryptedItem(1),
      user,
      answer,
    ]);
  });

  it("ignores a window that was compacted for another model", async () => {
    const { manager, session, client } = await startManager();
    await manager.compact([user], 11);
    const other = new CompactionManager(client, {}, session, { model: "gpt-6" });
    expect(other.injectEncryptedItems([answer])).toEqual([answer]);
  });

  it("retries while the provider throttles", async () => {
    const { manager, compactions } = await startManager({
      window: (nth) =>
        nth < 3 ? { status: 429, error: { message: "Slow down." } } : [createEncryptedItem(nth)],
    });
    expect(await manager.compact([user], 11)).toEqual([createEncryptedItem(3)]);
    expect(compactions).toHaveLength(3);
  });

  it("throws a CompactionError with the token count and cause, and leaves the session unchanged", async () => {
    const { manager, session } = await startManager({
      window: (nth) =>
        nth === 1 ? [createEncryptedItem(1)] : { status: 400, error: { message: "Too long." } },
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

  it("publishes the window in an event that prints only the length of encrypted content", async () => {
    const { manager, bus } = await startManager();
    await manager.compact([user, answer], 11);
    const [kept] = bus.of("CompactionKept");
    expect(kept?.window).toEqual([user, createEncryptedItem(1)]);
    expect(JSON.stringify(kept)).toContain("sealed 1");
    expect(inspect(kept, { depth: 9 })).toContain("[8 characters]");
    expect(inspect(kept, { depth: 9 })).not.toContain("sealed 1");
    expect(inspect(manager.state, { depth: 9 })).not.toContain("sealed 1");
  });

  it("works with the official OpenAI client", async () => {
    const { routes } = compactionRoutes();
    const server = await startWireServer([], { routes });
    onTestFinished(() => server.close());
    const client = new OpenAI({ apiKey: testKey, baseURL: server.url });
    const manager = new CompactionManager(client, {}, new Session(), { model: "gpt-5.2" });
    expect(await manager.compact([user], 11)).toEqual([user, createEncryptedItem(1)]);
  });
});

describe("new CompactionManager()", () => {
  const client = openAIClient({ apiKey: testKey });

  it("rejects a client that cannot compact", () => {
    const old = { responses: { create: () => null } } as unknown as OpenAIClient;
    const create = () => new CompactionManager(old, {}, new Session(), { model: "m" });
    expect(create).toThrow(InvalidOptionError);
    expect(create).toThrow(
      /CompactionManager\(client\) must be a client that can compact.*openAIClient/,
    );
  });

  it("rejects a missing session", () => {
    const create = () => new CompactionManager(client, {}, {} as Session, { model: "m" });
    expect(create).toThrow(/CompactionManager\(session\) must be a Session.*new Session/);
  });

  it("rejects a missing model and an invalid config", () => {
    const session = new Session();
    const createWithoutModel = () =>
      new CompactionManager(client, {}, session, {} as { model: string });
    expect(createWithoutModel).toThrow("CompactionManager(options).model");
    const createWithInvalidConfig = () =>
      new CompactionManager(client, { thresholdTokens: 0 }, session, { model: "m" });
    expect(createWithInvalidConfig).toThrow("CompactionManager(config).thresholdTokens");
  });
});
