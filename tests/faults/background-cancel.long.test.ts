import { describe, expect, test, vi } from "vitest";
import { Deadline, definePrompt, Session } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import { type Cut, startCuttingProxy } from "../support/faults/cutting-proxy.ts";
import { startProviderFixture } from "../support/local/provider-fixture.ts";
import { MemorySessionStore } from "../support/memory-session-store.ts";
import { clients } from "../support/openai-clients.ts";

const prompt = definePrompt({ name: "slow", instructions: "Take your time." });

describe.each(clients)("cancelling a response in the background on %s", (_, client) => {
  /** Creates an adapter on a model that takes a minute. */
  async function createStage(plan: (route: string) => Cut | null = () => null) {
    const fixture = await startProviderFixture([[{ think: "Hm." }, { stall: 60_000 }]]);
    const proxy = await startCuttingProxy(fixture.url, ({ route }) => plan(route));
    const logged: string[] = [];
    const logger = { debug: log, info: log, warn: log, error: log };
    function log(message: string): void {
      logged.push(message);
    }
    const adapter = new OpenAIAdapter({
      model: "gpt-5.2",
      delivery: "background",
      logger,
      ...client(proxy.url),
    });
    const readStatuses = async () => {
      const bodies = await Promise.all(
        ids.map(async (id) => (await fixture.ask(`GET /responses/${id}`)).body),
      );
      return bodies.map(({ status }) => status);
    };
    const ids: unknown[] = [];
    const store = new MemorySessionStore();
    const bus = recordingBus();
    const session = new Session({ bus, store });
    bus.subscribe("TurnSubmitted", ({ responseId }) => void ids.push(responseId));
    const waitForSubmission = () => vi.waitFor(() => expect(ids).toHaveLength(1), 20_000);
    return { adapter, proxy, session, ids, logged, waitForSubmission, readStatuses };
  }

  test("by the signal cancels it at the provider", async () => {
    const { adapter, session, waitForSubmission, readStatuses } = await createStage();
    const stop = new AbortController();
    const running = adapter.evaluate(prompt, { session, signal: stop.signal });
    await waitForSubmission();
    stop.abort(new Error("Enough."));
    await expect(running).rejects.toThrow("Enough.");
    expect(await readStatuses()).toEqual(["cancelled"]);
  });

  test("by the deadline cancels it at the provider", async () => {
    const { adapter, session, readStatuses } = await createStage();
    const deadline = Deadline.after(4_000);
    await expect(adapter.evaluate(prompt, { session, deadline })).rejects.toThrow(/deadline/i);
    expect(await readStatuses()).toEqual(["cancelled"]);
  });

  test("by the stream cancels it at the provider", async () => {
    const { adapter, session, waitForSubmission, readStatuses } = await createStage();
    const stream = adapter.stream(prompt, { session });
    await waitForSubmission();
    stream.cancel();
    await expect(stream.response).rejects.toThrow();
    expect(await readStatuses()).toEqual(["cancelled"]);
  });

  test("before its id is known waits for the id, and cancels it", async () => {
    const { adapter, session, proxy, logged } = await createStage((route) =>
      route === "POST /v1/responses" ? { delayMs: 300 } : null,
    );
    const stop = new AbortController();
    const running = adapter.evaluate(prompt, { session, signal: stop.signal });
    await vi.waitFor(() => expect(proxy.created).toBe(1), 20_000);
    stop.abort(new Error("Enough."));
    await expect(running).rejects.toThrow("Enough.");
    expect(proxy.requests.at(-1)?.route).toMatch(/^POST .*\/cancel$/);
    expect(logged).toContain("response cancelled");
  });

  test("does not wait long for a provider that does not answer", async () => {
    const { adapter, session, waitForSubmission, logged } = await createStage((route) =>
      route.endsWith("/cancel") ? { swallows: true } : null,
    );
    const stop = new AbortController();
    const running = adapter.evaluate(prompt, { session, signal: stop.signal });
    await waitForSubmission();
    stop.abort(new Error("Enough."));
    const started = performance.now();
    await expect(running).rejects.toThrow("Enough.");
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(logged.at(-1)).toBe("the response could not be cancelled");
  });

  test("before anything was sent sends nothing", async () => {
    const { adapter, session, proxy } = await createStage();
    const signal = AbortSignal.abort(new Error("Enough."));
    await expect(adapter.evaluate(prompt, { session, signal })).rejects.toThrow("Enough.");
    expect(proxy.requests).toEqual([]);
  });
});
