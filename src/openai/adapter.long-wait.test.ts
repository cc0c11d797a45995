import { describe, expect, onTestFinished, test } from "vitest";
import { answerTurn, callTurn } from "../../tests/support/compaction/compaction-run.ts";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { testKey } from "../../tests/support/openai-clients.ts";
import { createTaskPrompt } from "../../tests/support/openai-run.ts";
import { createLookPrompt, createLookTurn } from "../../tests/support/resume/look-turn.ts";
import {
  codeInterpreterCall,
  message,
  type RouteAnswer,
  type SeenRequest,
  startWireServer,
  type WireAnswer,
} from "../../tests/support/wire-server.ts";
import type { NestedOptions } from "../adapter/nested-adapter.ts";
import { onBarrier } from "../adapter/resume/barrier.ts";
import { maxThrottleWaitMs } from "../adapter/throttle.ts";
import { ThrottleError } from "../base/evaluation-errors.ts";
import type { Prompt } from "../prompt/prompt.ts";
import { Session } from "../session/session.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { codeInterpreterTool } from "../tools/hosted/code-interpreter.ts";
import { OpenAIAdapter } from "./adapter.ts";
import type { OpenAIAdapterOptions } from "./adapter-options.ts";

const slowDown: RouteAnswer = {
  status: 429,
  error: { message: "Slow down.", code: "rate_limit_exceeded" },
  headers: { "retry-after": "120" },
};
const done: WireAnswer = [message("Done.")];

/** Answers with `slowDown` once, and then with `answer`. */
function slowDownOnce(answer: RouteAnswer): () => RouteAnswer {
  let asked = 0;
  return () => (asked++ === 0 ? slowDown : answer);
}

interface StageOptions {
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  readonly routes?: Readonly<Record<string, RouteAnswer | ((request: SeenRequest) => RouteAnswer)>>;
  readonly prompt?: () => Prompt<string>;
}

/** Starts a server. Each evaluation opens the stored session again, as another process does. */
async function startStage(
  script: readonly WireAnswer[],
  { adapter, routes = {}, prompt = createLookPrompt }: StageOptions = {},
) {
  const server = await startWireServer(script, { routes });
  onTestFinished(() => server.close());
  const store = new MemorySessionStore();
  const barriers: string[] = [];
  const run = async (
    options: NestedOptions = {},
    { isStreamed = false, clock = fakeClock() } = {}, // nothing moves the clock, so a wait would not end
  ) => {
    const clientConfig = { apiKey: testKey, baseURL: server.url };
    const session = await Session.openOrCreate(store, "run", []);
    const evaluator = new OpenAIAdapter({ model: "gpt-5.2", clientConfig, clock, ...adapter });
    const given = {
      ...{ session, [maxThrottleWaitMs]: 60_000, ...options },
      [onBarrier]: (barrier: string) => void barriers.push(barrier),
    };
    return isStreamed
      ? await evaluator.stream(prompt(), given).response
      : await evaluator.evaluate(prompt(), given);
  };
  const listRequests = () => server.requests.map(({ method, path }) => `${method} ${path}`);
  return { run, listRequests, barriers, requests: server.requests };
}

async function catchThrottle(work: Promise<unknown>): Promise<ThrottleError> {
  const error = await work.then(
    () => expect.fail("it did not fail"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ThrottleError);
  return error as ThrottleError;
}

describe("an evaluation whose throttled requests may wait 60 seconds", () => {
  test.each([false, true])(
    "ends at once if a request must wait for 120 seconds, and resumes there (streamed: %j)",
    async (isStreamed) => {
      const stage = await startStage([createLookTurn("call_1"), slowDown, done]);
      const error = await catchThrottle(stage.run({}, { isStreamed }));
      expect(error).toMatchObject({
        ...{ kind: "rate_limit", retryAfterMs: 120_000, attempts: 1, promptName: "test:run" },
        partial: { turns: 1 },
      });
      const { text } = await stage.run({ resume: true }, { isStreamed });
      expect(text).toBe("Done.");
      // The first turn is not sent again, and the second is the same request.
      const [, second, third] = stage.requests.map((request) => request.text);
      expect(stage.requests).toHaveLength(3);
      expect(third).toBe(second);
      expect(stage.barriers).toContain("turn-completed");
    },
  );

  test("waits shorter", async () => {
    const soon = { ...slowDown, headers: { "retry-after": "60" } };
    const stage = await startStage([soon, done]);
    const clock = fakeClock({ skipsSleep: true });
    await stage.run({}, { clock });
    expect(stage.requests).toHaveLength(2);
  });

  test("resumes if the first request of all must wait", async () => {
    const stage = await startStage([slowDown, done]);
    expect(await catchThrottle(stage.run())).toMatchObject({ partial: { turns: 0 } });
    expect((await stage.run({ resume: true })).text).toBe("Done.");
  });

  test.each([
    ["token count", "POST /responses/input_tokens", { input_tokens: 51 }],
    ["compaction", "POST /responses/compact", null],
  ])("ends with a ThrottleError if the %s must wait", async (_what, path, json) => {
    const window = {
      id: "resp_2",
      object: "response.compaction",
      output: [{ id: "cmp_1", type: "compaction", encrypted_content: "AAAA" }],
      usage: { input_tokens: 90, output_tokens: 10, total_tokens: 100 },
    };
    const count = { json: { object: "response.input_tokens", input_tokens: 51 } };
    const stage = await startStage([callTurn, answerTurn], {
      adapter: { compaction: { thresholdTokens: 50 } },
      routes: {
        "POST /responses/input_tokens": count,
        "POST /responses/compact": { json: window },
        [path]: slowDownOnce(json ? count : { json: window }),
      },
    });
    expect(await catchThrottle(stage.run())).toMatchObject({ retryAfterMs: 120_000 });
    const before = stage.listRequests().filter((one) => one === "POST /responses");
    expect(before).toHaveLength(1);
    expect((await stage.run({ resume: true })).text).toBe("Three.");
    expect(stage.listRequests().filter((one) => one === "POST /responses")).toHaveLength(2);
  });

  test("ends if a response in the background must be waited for, and picks it up", async () => {
    const whole = {
      ...{ id: "resp_1", object: "response", status: "completed", background: true },
      ...{ model: "gpt-5.2", output: [{ id: "msg_1", ...message("Done.") }] },
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    };
    const queued = { ...whole, status: "queued", output: [], usage: null };
    const stage = await startStage([{ json: queued }], {
      adapter: { delivery: "background" },
      routes: { "GET /responses/resp_1": slowDownOnce({ json: whole }) },
    });
    expect(await catchThrottle(stage.run())).toMatchObject({ retryAfterMs: 120_000 });
    expect((await stage.run({ resume: true })).text).toBe("Done.");
    // Neither cancelled nor sent again.
    expect(stage.listRequests()).toEqual([
      ...["POST /responses", "GET /responses/resp_1", "GET /responses/resp_1"],
    ]);
  });

  test("ends if the check of a container must wait", async () => {
    const code = codeInterpreterTool({ container: { id: "cntr_1" } });
    const container = { id: "cntr_1", object: "container", status: "running", name: "c" };
    const stage = await startStage([done], {
      prompt: () => createTaskPrompt({ hostedTools: [code] }),
      routes: { "GET /containers/cntr_1": slowDownOnce({ json: container }) },
    });
    expect(await catchThrottle(stage.run())).toMatchObject({ retryAfterMs: 120_000 });
    expect((await stage.run({ resume: true })).text).toBe("Done.");
  });

  test("waits to delete a container that retains data", async () => {
    const code = codeInterpreterTool();
    const deleted = { json: { id: "cntr_1", object: "container.deleted", deleted: true } };
    const stage = await startStage([[codeInterpreterCall("1", ["1"]), message("Done.")]], {
      adapter: { compaction: { zdrMode: true } },
      prompt: () => createTaskPrompt({ hostedTools: [code] }),
      routes: { "DELETE /containers/cntr_1": slowDownOnce(deleted) },
    });
    const clock = fakeClock({ skipsSleep: true });
    expect((await stage.run({}, { clock })).text).toBe("Done.");
    const deletions = stage.listRequests().filter((one) => one.startsWith("DELETE"));
    expect(deletions).toHaveLength(2);
  });
});

test("an evaluation without a longest wait waits for 120 seconds", async () => {
  const stage = await startStage([slowDown, done]);
  const clock = fakeClock({ skipsSleep: true });
  const started = clock.now();
  await stage.run({ [maxThrottleWaitMs]: undefined }, { clock });
  expect(clock.now() - started).toBeGreaterThanOrEqual(120_000);
  expect(stage.requests).toHaveLength(2);
});
