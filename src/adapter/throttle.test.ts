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
import {
  isWaitTooLong,
  maxThrottleWaitMs,
  resolveThrottlePolicy,
  retryThrottled,
  type ThrottlePolicy,
} from "./throttle.ts";

const createThrottleError = (kind: ThrottleKind = "rate_limit", retryAfterMs?: number) =>
  new ThrottleError("Too many requests", { promptName: "", kind, retryAfterMs });

const catchFailure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error,
  );

/** Runs a script of failures followed by success. Returns the outcome and the waits. */
async function retryScript(
  failures: readonly unknown[],
  given: {
    readonly policy?: Partial<ThrottlePolicy>;
    readonly random?: number;
    readonly deadlineMs?: number;
    readonly maxWaitMs?: number;
  } = {},
) {
  const clock = fakeClock({ skipsSleep: true });
  const times: number[] = [];
  const outcome = await retryThrottled(
    async () => {
      times.push(clock.now());
      if (times.length <= failures.length) throw failures[times.length - 1];
      return "done";
    },
    {
      throttle: resolveThrottlePolicy(given.policy),
      clock,
      random: () => given.random ?? 0,
      deadline: given.deadlineMs === undefined ? null : Deadline.after(given.deadlineMs, clock),
      signal: new AbortController().signal,
      logger: silentLogger,
      [maxThrottleWaitMs]: given.maxWaitMs,
    },
  ).catch((error: unknown) => error);
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return { outcome, waits, attempts: times.length };
}

describe("retryThrottled()", () => {
  test("retries until the request succeeds", async () => {
    const { outcome, attempts } = await retryScript([createThrottleError(), createThrottleError()]);
    expect([outcome, attempts]).toEqual(["done", 3]);
  });

  test.each<ThrottleKind>(["rate_limit", "timeout", "server", "network"])(
    "retries a failure of kind %s",
    async (kind) => {
      expect(await retryScript([createThrottleError(kind)])).toMatchObject({
        outcome: "done",
        attempts: 2,
      });
    },
  );

  test("does not retry if the quota is exhausted", async () => {
    const error = createThrottleError("quota_exhausted", 100);
    expect(await retryScript([error])).toEqual({ outcome: error, waits: [], attempts: 1 });
  });

  test("throws at once if the provider asks for a longer wait than allowed", async () => {
    const error = createThrottleError("rate_limit", 120_000);
    const { outcome, waits } = await retryScript([error], { maxWaitMs: 60_000 });
    expect([outcome, waits]).toEqual([error, []]);
    expect(error).toMatchObject({ retryAfterMs: 120_000, attempts: 1 });
    expect(isWaitTooLong(error)).toBe(true);
  });

  test("throws at once if its own delay is longer than allowed", async () => {
    const error = createThrottleError("server");
    const policy = { baseDelayMs: 90_000, maxDelayMs: 90_000, maxTotalMs: 900_000 };
    expect(await retryScript([error], { policy, maxWaitMs: 60_000 })).toMatchObject({
      outcome: error,
      attempts: 1,
    });
    expect(error.retryAfterMs).toBe(null);
  });

  test("waits as long as the longest allowed wait", async () => {
    const errors = [60_000, 1_000].map((wait) => createThrottleError("rate_limit", wait));
    const { outcome, waits } = await retryScript(errors, { maxWaitMs: 60_000 });
    expect([outcome, waits]).toEqual(["done", [60_000, 1_000]]);
    expect(errors.some(isWaitTooLong)).toBe(false);
  });

  test("waits as long as the provider asks without a longest wait", async () => {
    const error = createThrottleError("rate_limit", 3_600_000);
    expect(await retryScript([error])).toMatchObject({ outcome: "done", waits: [3_600_000] });
    expect(isWaitTooLong(new Error("late"))).toBe(false);
  });

  test("does not repeat an error that a nested call did not wait for", async () => {
    const error = createThrottleError("rate_limit", 120_000);
    let attempts = 0;
    const inner = async () => {
      attempts += 1;
      const { outcome } = await retryScript([error], { maxWaitMs: 60_000 });
      throw outcome;
    };
    const clock = fakeClock({ skipsSleep: true });
    const settings = {
      ...{ throttle: resolveThrottlePolicy(), clock, random: () => 0, logger: silentLogger },
      ...{ deadline: null, signal: new AbortController().signal },
    };
    expect(await catchFailure(retryThrottled(inner, settings))).toBe(error);
    expect(attempts).toBe(1);
  });

  test("throws the last error after maxAttempts, with the number of attempts", async () => {
    const errors = [createThrottleError(), createThrottleError(), createThrottleError()];
    const { outcome, attempts } = await retryScript(errors, { policy: { maxAttempts: 3 } });
    expect(outcome).toBe(errors[2]);
    expect(outcome).toMatchObject({ attempts: 3, phase: "request", kind: "rate_limit" });
    expect(attempts).toBe(3);
  });

  test("does not repeat an error that a nested call has already retried", async () => {
    const { outcome } = await retryScript([createThrottleError()], { policy: { maxAttempts: 1 } });
    expect(outcome).toMatchObject({ attempts: 1 });
    expect(await retryScript([outcome])).toEqual({ outcome, waits: [], attempts: 1 });
    expect(outcome).toMatchObject({ attempts: 1 });
  });

  test("makes five attempts by default", async () => {
    const { attempts } = await retryScript(Array.from({ length: 9 }, () => createThrottleError()));
    expect(attempts).toBe(5);
  });

  test("makes one attempt if maxAttempts is 1", async () => {
    expect(
      await retryScript([createThrottleError()], { policy: { maxAttempts: 1 } }),
    ).toMatchObject({ attempts: 1 });
  });

  test.each([
    ["an evaluation error", new PromptEvaluationError("Bad", { promptName: "", phase: "request" })],
    ["any other error", new TypeError("down")],
    ["a value that is not an error", "down"],
  ])("does not retry after %s", async (_, error) => {
    expect(await retryScript([error])).toEqual({ outcome: error, waits: [], attempts: 1 });
  });
});

describe("the delay between attempts", () => {
  const five = Array.from({ length: 4 }, () => createThrottleError());

  test("is at least the base delay", async () => {
    const { waits } = await retryScript(five, { random: 0 });
    expect(waits).toEqual([500, 500, 500, 500]);
  });

  test("doubles with each attempt, scaled by chance", async () => {
    const { waits } = await retryScript(five, { random: 1 });
    expect(waits).toEqual([500, 1_000, 2_000, 4_000]);
    expect((await retryScript(five, { random: 0.75 })).waits).toEqual([500, 750, 1_500, 3_000]);
  });

  test("is at most the maximum delay", async () => {
    const { waits } = await retryScript(five, { random: 1, policy: { maxDelayMs: 1_500 } });
    expect(waits).toEqual([500, 1_000, 1_500, 1_500]);
  });

  test("follows the provider's Retry-After if that is longer", async () => {
    const { waits } = await retryScript(
      [createThrottleError("rate_limit", 2_345), createThrottleError("rate_limit", 1)],
      {
        random: 1,
      },
    );
    expect(waits).toEqual([2_345, 1_000]);
  });

  test("follows Retry-After beyond the maximum delay and the maximum total", async () => {
    const policy = { maxDelayMs: 1_000, maxTotalMs: 2_000 };
    const errors = [
      createThrottleError("rate_limit", 60_000),
      createThrottleError("rate_limit", 60_000),
    ];
    expect(await retryScript(errors, { policy })).toEqual({
      outcome: "done",
      waits: [60_000, 60_000],
      attempts: 3,
    });
  });

  test("ends the retries once the total would exceed its maximum", async () => {
    const policy = { maxTotalMs: 1_200 };
    const { outcome, waits } = await retryScript(five, { policy });
    expect(waits).toEqual([500, 500]);
    expect(outcome).toMatchObject({ name: "ThrottleError", attempts: 3 });
  });

  test("may reach exactly the maximum total", async () => {
    const { waits, outcome } = await retryScript([createThrottleError(), createThrottleError()], {
      policy: { maxTotalMs: 1_000 },
    });
    expect([outcome, waits]).toEqual(["done", [500, 500]]);
  });

  test("is not started if the deadline comes first", async () => {
    const error = createThrottleError("rate_limit", 5_000);
    expect(await retryScript([error], { deadlineMs: 5_000 })).toEqual({
      outcome: error,
      waits: [],
      attempts: 1,
    });
    expect(
      await retryScript([createThrottleError("rate_limit", 5_000)], { deadlineMs: 5_001 }),
    ).toMatchObject({
      outcome: "done",
      waits: [5_000],
    });
  });
});

describe("resolveThrottlePolicy()", () => {
  test("fills in the defaults", () => {
    const defaults = { maxAttempts: 5, baseDelayMs: 500, maxDelayMs: 8_000, maxTotalMs: 30_000 };
    expect(resolveThrottlePolicy()).toEqual(defaults);
    expect(resolveThrottlePolicy({ maxAttempts: 2 })).toEqual({ ...defaults, maxAttempts: 2 });
    expect(resolveThrottlePolicy()).toSatisfy(Object.isFrozen);
  });

  test.each([
    [
      "zero attempts",
      { maxAttempts: 0 },
      "throttle.maxAttempts must be a positive integer, got 0. Omit it for the default.",
    ],
    [
      "a fractional number of attempts",
      { maxAttempts: 1.5 },
      "throttle.maxAttempts must be a positive integer, got 1.5",
    ],
    [
      "infinite attempts",
      { maxAttempts: Infinity },
      "throttle.maxAttempts must be a positive integer, got Infinity",
    ],
    [
      "a delay of zero",
      { baseDelayMs: 0 },
      "throttle.baseDelayMs must be a positive number, got 0",
    ],
    ["a negative delay", { maxDelayMs: -1 }, "throttle.maxDelayMs must be a positive number"],
    ["NaN", { maxTotalMs: Number.NaN }, "throttle.maxTotalMs must be a positive number"],
    ["a string", { maxTotalMs: "1s" }, 'throttle.maxTotalMs must be a positive number, got "1s"'],
    [
      "an unknown option",
      { maxTries: 3 },
      'throttle key must be one of "baseDelayMs", "maxAttempts", "maxDelayMs", "maxTotalMs", got "maxTries". Remove it.',
    ],
    ["a misspelled option", { maxattempts: 3 }, 'Did you mean "maxAttempts"?'],
    [
      "an option named like a method",
      { toString: 3 },
      'throttle key must be one of "baseDelayMs", "maxAttempts", "maxDelayMs", "maxTotalMs", got "toString"',
    ],
  ])("rejects %s", (_, given, message) => {
    const make = () => resolveThrottlePolicy(given as never);
    expect(make).toThrow(InvalidOptionError);
    expect(make).toThrow(message);
  });
});

describe("evaluate() with throttled requests", () => {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work." });
  const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
  const createClient = (...script: readonly ScriptStep[]) =>
    scriptedClient(...script).with({ clock: fakeClock({ skipsSleep: true }), random: () => 0 });

  test("sends the same request again within one turn", async () => {
    const bus = recordingBus();
    const model = createClient(createThrottleError(), createThrottleError(), { text: "Done." });
    const response = await model.evaluate(prompt, { session: new Session({ bus }) });
    expect(response.text).toBe("Done.");
    expect(model.asked.map(({ turn }) => turn)).toEqual([1, 1, 1]);
    expect(bus.types()).toEqual([
      "PromptRendered",
      "TurnStarted",
      "TurnProgressed",
      "TurnCompleted",
      "PromptExecuted",
    ]);
    expect(bus.of("TurnCompleted")).toMatchObject([{ durationMs: 1_000 }]);
  });

  test("throws an error with the prompt's name and the partial response", async () => {
    const model = createClient(createThrottleError("server")).with({
      throttle: { maxAttempts: 1 },
    });
    expect(await catchFailure(model.evaluate(prompt, { session: new Session() }))).toMatchObject({
      name: "ThrottleError",
      promptName: "demo:k",
      kind: "server",
      attempts: 1,
      partial: { turns: 0 },
    });
  });

  test("counts attempts for each request separately", async () => {
    const model = createClient(createThrottleError(), { text: "One." }, createThrottleError(), {
      text: "Two.",
    }).with({
      throttle: { maxAttempts: 2 },
    });
    const session = new Session();
    expect(await model.evaluate(prompt, { session })).toMatchObject({ text: "One." });
    expect(await model.evaluate(prompt, { session })).toMatchObject({ text: "Two." });
  });

  test("logs each wait", async () => {
    const logged: unknown[] = [];
    const logger = { ...silentLogger, warn: (...entry: unknown[]) => void logged.push(entry) };
    await createClient(createThrottleError(), { text: "Done." })
      .with({ logger })
      .evaluate(prompt, { session: new Session() });
    expect(logged).toEqual([
      ["throttled: waiting to try again", { kind: "rate_limit", attempts: 1, delayMs: 500 }],
    ]);
  });

  test("ends the wait on cancellation, with the signal's reason", async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const logger = { ...silentLogger, warn: () => controller.abort("stop") };
    const model = createClient(createThrottleError(), { text: "Done." }).with({ clock, logger });
    const evaluation = model.evaluate(prompt, {
      session: new Session(),
      signal: controller.signal,
    });
    expect(await catchFailure(evaluation)).toBe("stop");
    expect(clock.sleeping).toBe(0);
    expect(model.asked).toHaveLength(1);
  });

  test("does not wait beyond the deadline", async () => {
    const clock = fakeClock();
    const model = createClient(createThrottleError("rate_limit", 10_000), { text: "Done." }).with({
      clock,
    });
    const deadline = Deadline.after(9_000, clock);
    const evaluation = model.evaluate(prompt, { session: new Session(), deadline });
    expect(await catchFailure(evaluation)).toMatchObject({ name: "ThrottleError", attempts: 1 });
    expect(clock.now()).toBe(0);
  });

  test("rejects an invalid policy before any request", async () => {
    const model = createClient({ text: "Done." }).with({ throttle: { maxAttempts: 0 } });
    expect(await catchFailure(model.evaluate(prompt, { session: new Session() }))).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      cause: { name: "InvalidOptionError", field: "throttle.maxAttempts" },
    });
    expect(model.asked).toEqual([]);
  });
});
