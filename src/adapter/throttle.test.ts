import { describe, expect, test } from "vitest";
import { Deadline } from "../base/deadline.ts";
import { InvalidOptionError } from "../base/errors.ts";
import {
  PromptEvaluationError,
  ThrottleError,
  type ThrottleKind,
} from "../base/evaluation-errors.ts";
import { silentLogger } from "../base/logger.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import { type ThrottlePolicy, throttled, throttlePolicy } from "./throttle.ts";

const busy = (kind: ThrottleKind = "rate_limit", retryAfterMs?: number) =>
  new ThrottleError("Too many requests", { promptName: "", kind, retryAfterMs });

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error,
  );

/** Tries a script of failures, then succeeds; tells how long it waited each time. */
async function tried(
  failures: readonly unknown[],
  given: {
    readonly policy?: Partial<ThrottlePolicy>;
    readonly random?: number;
    readonly deadlineMs?: number;
  } = {},
) {
  const clock = fakeClock({ skipsSleep: true });
  const times: number[] = [];
  const outcome = await throttled(
    async () => {
      times.push(clock.now());
      if (times.length <= failures.length) throw failures[times.length - 1];
      return "done";
    },
    {
      throttle: throttlePolicy(given.policy),
      clock,
      random: () => given.random ?? 0,
      deadline: given.deadlineMs === undefined ? null : Deadline.after(given.deadlineMs, clock),
      signal: new AbortController().signal,
      logger: silentLogger,
    },
  ).catch((error: unknown) => error);
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return { outcome, waits, attempts: times.length };
}

describe("a throttled request", () => {
  test("is tried again until it works", async () => {
    const { outcome, attempts } = await tried([busy(), busy()]);
    expect([outcome, attempts]).toEqual(["done", 3]);
  });

  test.each<ThrottleKind>(["rate_limit", "timeout", "server", "network"])(
    "is tried again whatever held it up: %s",
    async (kind) => {
      expect(await tried([busy(kind)])).toMatchObject({ outcome: "done", attempts: 2 });
    },
  );

  test("is not tried again where the quota is used up", async () => {
    const error = busy("quota_exhausted", 100);
    expect(await tried([error])).toEqual({ outcome: error, waits: [], attempts: 1 });
  });

  test("fails with the last error after maxAttempts, and says how many there were", async () => {
    const errors = [busy(), busy(), busy()];
    const { outcome, attempts } = await tried(errors, { policy: { maxAttempts: 3 } });
    expect(outcome).toBe(errors[2]);
    expect(outcome).toMatchObject({ attempts: 3, phase: "request", kind: "rate_limit" });
    expect(attempts).toBe(3);
  });

  test("is tried five times unless told otherwise", async () => {
    const { attempts } = await tried(Array.from({ length: 9 }, () => busy()));
    expect(attempts).toBe(5);
  });

  test("is tried once if maxAttempts is 1", async () => {
    expect(await tried([busy()], { policy: { maxAttempts: 1 } })).toMatchObject({ attempts: 1 });
  });

  test.each([
    ["an evaluation error", new PromptEvaluationError("Bad", { promptName: "", phase: "request" })],
    ["any other error", new TypeError("down")],
    ["what is no error", "down"],
  ])("is not tried again after %s", async (_, error) => {
    expect(await tried([error])).toEqual({ outcome: error, waits: [], attempts: 1 });
  });
});

describe("the wait", () => {
  const five = Array.from({ length: 4 }, () => busy());

  test("is at least the base delay", async () => {
    const { waits } = await tried(five, { random: 0 });
    expect(waits).toEqual([500, 500, 500, 500]);
  });

  test("doubles with each attempt, as far as chance has it", async () => {
    const { waits } = await tried(five, { random: 1 });
    expect(waits).toEqual([500, 1_000, 2_000, 4_000]);
    expect((await tried(five, { random: 0.75 })).waits).toEqual([500, 750, 1_500, 3_000]);
  });

  test("is at most the longest delay", async () => {
    const { waits } = await tried(five, { random: 1, policy: { maxDelayMs: 1_500 } });
    expect(waits).toEqual([500, 1_000, 1_500, 1_500]);
  });

  test("is what the provider asks for, if that is longer", async () => {
    const { waits } = await tried([busy("rate_limit", 2_345), busy("rate_limit", 1)], {
      random: 1,
    });
    expect(waits).toEqual([2_345, 1_000]);
  });

  test("is what the provider asks for, beyond the longest delay and all waits together", async () => {
    const policy = { maxDelayMs: 1_000, maxTotalMs: 2_000 };
    const errors = [busy("rate_limit", 60_000), busy("rate_limit", 60_000)];
    expect(await tried(errors, { policy })).toEqual({
      outcome: "done",
      waits: [60_000, 60_000],
      attempts: 3,
    });
  });

  test("is given up once all waits together would be too long", async () => {
    const policy = { maxTotalMs: 1_200 };
    const { outcome, waits } = await tried(five, { policy });
    expect(waits).toEqual([500, 500]);
    expect(outcome).toMatchObject({ name: "ThrottleError", attempts: 3 });
  });

  test("may come to exactly what is allowed", async () => {
    const { waits, outcome } = await tried([busy(), busy()], { policy: { maxTotalMs: 1_000 } });
    expect([outcome, waits]).toEqual(["done", [500, 500]]);
  });

  test("is not begun if the deadline comes first", async () => {
    const error = busy("rate_limit", 5_000);
    expect(await tried([error], { deadlineMs: 5_000 })).toEqual({
      outcome: error,
      waits: [],
      attempts: 1,
    });
    expect(await tried([busy("rate_limit", 5_000)], { deadlineMs: 5_001 })).toMatchObject({
      outcome: "done",
      waits: [5_000],
    });
  });
});

describe("a policy", () => {
  test("has defaults", () => {
    const defaults = { maxAttempts: 5, baseDelayMs: 500, maxDelayMs: 8_000, maxTotalMs: 30_000 };
    expect(throttlePolicy()).toEqual(defaults);
    expect(throttlePolicy({ maxAttempts: 2 })).toEqual({ ...defaults, maxAttempts: 2 });
    expect(throttlePolicy()).toSatisfy(Object.isFrozen);
  });

  test.each([
    [
      "no attempts",
      { maxAttempts: 0 },
      "throttle.maxAttempts must be a whole number from 1, got 0",
    ],
    ["half an attempt", { maxAttempts: 1.5 }, "throttle.maxAttempts must be a whole number from 1"],
    ["endless attempts", { maxAttempts: Infinity }, "throttle.maxAttempts must be a whole number"],
    ["no delay", { baseDelayMs: 0 }, "throttle.baseDelayMs must be a positive number, got 0"],
    ["a negative delay", { maxDelayMs: -1 }, "throttle.maxDelayMs must be a positive number"],
    ["no number", { maxTotalMs: Number.NaN }, "throttle.maxTotalMs must be a positive number"],
    ["text", { maxTotalMs: "1s" }, 'throttle.maxTotalMs must be a positive number, got "1s"'],
    [
      "an option that is none",
      { maxTries: 3 },
      "throttle.maxTries must be left out, as there is no such option, got 3. Use one of maxAttempts, baseDelayMs, maxDelayMs, maxTotalMs, or leave it out",
    ],
    ["an option called like a method", { toString: 3 }, "throttle.toString must be left out"],
  ])("with %s is refused", (_, given, message) => {
    const make = () => throttlePolicy(given as never);
    expect(make).toThrow(InvalidOptionError);
    expect(make).toThrow(message);
  });
});

describe("within an evaluation", () => {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work." });
  const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
  const client = (...script: readonly ScriptStep[]) =>
    scriptedClient(...script).with({ clock: fakeClock({ skipsSleep: true }), random: () => 0 });

  test("the same request is sent again, as one turn", async () => {
    const bus = recordingBus();
    const model = client(busy(), busy(), { text: "Done." });
    const response = await model.evaluate(prompt, { session: new Session({ bus }) });
    expect(response.text).toBe("Done.");
    expect(model.asked.map(({ turn }) => turn)).toEqual([1, 1, 1]);
    expect(bus.types()).toEqual([
      "PromptRendered",
      "TurnStarted",
      "TurnCompleted",
      "PromptExecuted",
    ]);
    expect(bus.of("TurnCompleted")).toMatchObject([{ durationMs: 1_000 }]);
  });

  test("the error that ends it names the prompt and what was had", async () => {
    const model = client(busy("server")).with({ throttle: { maxAttempts: 1 } });
    expect(await failureOf(model.evaluate(prompt, { session: new Session() }))).toMatchObject({
      name: "ThrottleError",
      promptName: "demo:k",
      kind: "server",
      attempts: 1,
      partial: { turns: 0 },
    });
  });

  test("attempts are counted anew for each request", async () => {
    const model = client(busy(), { text: "One." }, busy(), { text: "Two." }).with({
      throttle: { maxAttempts: 2 },
    });
    const session = new Session();
    expect(await model.evaluate(prompt, { session })).toMatchObject({ text: "One." });
    expect(await model.evaluate(prompt, { session })).toMatchObject({ text: "Two." });
  });

  test("each wait is told to the logger", async () => {
    const told: unknown[] = [];
    const logger = { ...silentLogger, warn: (...said: unknown[]) => void told.push(said) };
    await client(busy(), { text: "Done." })
      .with({ logger })
      .evaluate(prompt, { session: new Session() });
    expect(told).toEqual([
      ["throttled: waiting to try again", { kind: "rate_limit", attempts: 1, delayMs: 500 }],
    ]);
  });

  test("cancellation ends the wait, with its reason", async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const logger = { ...silentLogger, warn: () => controller.abort("stop") };
    const model = client(busy(), { text: "Done." }).with({ clock, logger });
    const evaluation = model.evaluate(prompt, {
      session: new Session(),
      signal: controller.signal,
    });
    expect(await failureOf(evaluation)).toBe("stop");
    expect(clock.sleeping).toBe(0);
    expect(model.asked).toHaveLength(1);
  });

  test("the deadline is not slept through", async () => {
    const clock = fakeClock();
    const model = client(busy("rate_limit", 10_000), { text: "Done." }).with({ clock });
    const deadline = Deadline.after(9_000, clock);
    const evaluation = model.evaluate(prompt, { session: new Session(), deadline });
    expect(await failureOf(evaluation)).toMatchObject({ name: "ThrottleError", attempts: 1 });
    expect(clock.now()).toBe(0);
  });

  test("a bad policy is refused before any request", async () => {
    const model = client({ text: "Done." }).with({ throttle: { maxAttempts: 0 } });
    expect(await failureOf(model.evaluate(prompt, { session: new Session() }))).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      cause: { name: "InvalidOptionError", field: "throttle.maxAttempts" },
    });
    expect(model.asked).toEqual([]);
  });
});
