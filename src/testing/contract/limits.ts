import { Deadline } from "../../base/deadline.ts";
import { DeadlineExceededError, ThrottleError } from "../../base/evaluation-errors.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../recording-bus.ts";
import { catchRejection, expectRejection, expectSame } from "./expect.ts";
import { createPrompt, notes, wordTool } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const stuck = { toolCalls: [{ name: "wait", arguments: { word: "x" } }] };

/** Records its word and never finishes, even if the signal aborts. */
const waitTool = wordTool("wait", ({ word }, { session }) => {
  session.dispatch({ type: "ContractNoted", note: word });
  return new Promise(() => {});
});

/** Cases about cancellation, deadlines and throttling. */
export const limitCases: readonly ContractCase[] = [
  {
    name: "cancels a request in flight and throws the signal's own reason",
    script: [{ stall: true }],
    async check({ adapter }) {
      const reason = { any: "thing" };
      const stop = new AbortController();
      const bus = recordingBus();
      bus.subscribe("TurnStarted", () => queueMicrotask(() => stop.abort(reason)));
      const session = new Session({ bus });
      const thrown = await catchRejection(
        adapter.evaluate(createPrompt(), { session, signal: stop.signal }),
      );
      expectSame(thrown === reason, true, "the reason itself is thrown");
    },
  },
  {
    name: "stops waiting for a call that ignores the signal, and rolls it back",
    script: [stuck, { text: "never" }],
    async check({ adapter }) {
      const stop = new AbortController();
      const bus = recordingBus();
      bus.subscribe("ContractNoted", () => queueMicrotask(() => stop.abort(new Error("enough"))));
      const session = new Session({ bus }).register(notes);
      const work = adapter.evaluate(createPrompt([waitTool]), { session, signal: stop.signal });
      expectSame(
        (await catchRejection(work)) === stop.signal.reason,
        true,
        "the reason itself is thrown",
      );
      expectSame(session.get(notes), [], "the notes after the rollback");
    },
  },
  {
    name: "stops a request in flight when the deadline passes",
    script: [{ stall: true }],
    async check({ adapter, clock }) {
      const deadline = Deadline.after(60_000, clock);
      const bus = recordingBus();
      bus.subscribe("TurnStarted", () => queueMicrotask(() => clock.advance(60_000)));
      const work = adapter.evaluate(createPrompt(), { session: new Session({ bus }), deadline });
      expectSame((await expectRejection(work, DeadlineExceededError)).phase, "request", "phase");
    },
  },
  {
    name: "rejects a deadline that has passed before sending a request",
    script: [{ text: "never" }],
    async check({ adapter, asked, clock }) {
      const deadline = Deadline.at(new Date(clock.now() - 1), clock);
      await expectRejection(
        adapter.evaluate(createPrompt(), { session: new Session(), deadline }),
        DeadlineExceededError,
      );
      expectSame(asked().length, 0, "requests");
    },
  },
  {
    name: "retries a throttled request after the provider's Retry-After time",
    script: [{ throttle: { kind: "rate_limit", retryAfterMs: 45_000 } }, { text: "At last." }],
    async check({ adapter, clock, asked }) {
      const started = clock.now();
      const { text } = await adapter.evaluate(createPrompt(), { session: new Session() });
      expectSame([text, asked().length], ["At last.", 2], "answer and requests");
      if (clock.now() - started < 45_000)
        throw new Error("The adapter retried before the Retry-After time had passed");
    },
  },
  {
    name: "does not retry after the quota is exhausted",
    script: [{ throttle: { kind: "quota_exhausted" } }, { text: "never" }],
    async check({ adapter, asked }) {
      const work = adapter.evaluate(createPrompt(), { session: new Session() });
      const error = await expectRejection(work, ThrottleError);
      expectSame([error.kind, error.attempts, asked().length], ["quota_exhausted", 1, 1], "error");
    },
  },
];
