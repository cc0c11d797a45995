import { expect, test } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { createTaskPrompt } from "../../tests/support/openai-run.ts";
import type { NestedOptions } from "../adapter/nested-adapter.ts";
import { onBarrier } from "../adapter/resume/barrier.ts";
import { maxThrottleWaitMs } from "../adapter/throttle.ts";
import { Prompt } from "../prompt/prompt.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { InProcessEventBus } from "../session/event-bus.ts";
import { Session } from "../session/session.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { ClaudeAgentSDKAdapter } from "./adapter.ts";
import { ClaudeAgentWorkspaceSection } from "./workspace/workspace-section.ts";

test("aborting an evaluation does not wait for mounts to be copied and does not start the SDK", async () => {
  /** A workspace whose mounts are never fully copied. */
  class EndlessWorkspace extends ClaudeAgentWorkspaceSection {
    override ready(): Promise<void> {
      return new Promise(() => {});
    }
  }
  const requests: object[] = [];
  const sdk = {
    async *query(request: object) {
      requests.push(request);
      yield {};
    },
  };
  const bus = new InProcessEventBus();
  const session = new Session({ bus });
  const workspace = new EndlessWorkspace({ session });
  const template = new PromptTemplate({ ns: "claude", key: "endless", sections: [workspace] });
  const stop = new AbortController();
  bus.subscribe("TurnStarted", () => void setTimeout(() => stop.abort("enough"), 50));
  const adapter = new ClaudeAgentSDKAdapter({ isolation: { apiKey: "k" }, sdk });
  const work = adapter.evaluate(new Prompt(template), { session, signal: stop.signal });
  await expect(work).rejects.toBe("enough");
  expect(requests).toEqual([]);
  await workspace.cleanup();
});

test.each(["evaluate", "stream"] as const)(
  "%s() passes the library's own options on, and does not wait longer than they allow",
  async (method) => {
    const retry = { error_status: 429, error: "rate_limit", retry_delay_ms: 120_000 };
    const sdk = {
      async *query() {
        yield { type: "system", subtype: "api_retry", ...retry };
      },
    };
    const barriers: string[] = [];
    const options: NestedOptions = {
      session: new Session({ id: "run", store: new MemorySessionStore() }),
      [onBarrier]: (barrier) => void barriers.push(barrier),
      [maxThrottleWaitMs]: 60_000,
    };
    const clock = fakeClock(); // nothing moves it, so a wait would not end
    const adapter = new ClaudeAgentSDKAdapter({ isolation: { apiKey: "k" }, sdk, clock });
    const prompt = createTaskPrompt();
    const response =
      method === "evaluate"
        ? adapter.evaluate(prompt, options)
        : adapter.stream(prompt, options).response;
    await expect(response).rejects.toMatchObject({
      name: "ThrottleError",
      retryAfterMs: 120_000,
      attempts: 1,
    });
    expect(barriers).toEqual(["claimed"]);
  },
);
