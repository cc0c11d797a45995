import { Deadline } from "../../base/deadline.ts";
import { DeadlineExceededError, ThrottleError } from "../../base/evaluation-errors.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../recording-bus.ts";
import { failure, same, thrownBy } from "./expect.ts";
import { notes, promptWith, wordTool } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const stuck = { toolCalls: [{ name: "wait", arguments: { word: "x" } }] };

/** Notes its word and then never ends, whatever the signal says. */
const waitTool = wordTool("wait", ({ word }, { session }) => {
  session.dispatch({ type: "ContractNoted", note: word });
  return new Promise(() => {});
});

/** Cancellation, deadlines, throttling. */
export const limitCases: readonly ContractCase[] = [
  {
    name: "cancelling ends a request in flight, with the signal's own reason",
    script: [{ stall: true }],
    async check({ adapter }) {
      const reason = { any: "thing" };
      const stop = new AbortController();
      const bus = recordingBus();
      bus.subscribe("TurnStarted", () => queueMicrotask(() => stop.abort(reason)));
      const session = new Session({ bus });
      const thrown = await thrownBy(
        adapter.evaluate(promptWith(), { session, signal: stop.signal }),
      );
      same(thrown === reason, true, "the reason itself is thrown");
    },
  },
  {
    name: "cancelling ends a call that ignores the signal, and rolls it back",
    script: [stuck, { text: "never" }],
    async check({ adapter }) {
      const stop = new AbortController();
      const bus = recordingBus();
      bus.subscribe("ContractNoted", () => queueMicrotask(() => stop.abort(new Error("enough"))));
      const session = new Session({ bus }).register(notes);
      const work = adapter.evaluate(promptWith([waitTool]), { session, signal: stop.signal });
      same((await thrownBy(work)) === stop.signal.reason, true, "the reason itself is thrown");
      same(session.get(notes), [], "what is left");
    },
  },
  {
    name: "a deadline ends a request in flight",
    script: [{ stall: true }],
    async check({ adapter, clock }) {
      const deadline = Deadline.after(60_000, clock);
      const bus = recordingBus();
      bus.subscribe("TurnStarted", () => queueMicrotask(() => clock.advance(60_000)));
      const work = adapter.evaluate(promptWith(), { session: new Session({ bus }), deadline });
      same((await failure(work, DeadlineExceededError)).phase, "request", "phase");
    },
  },
  {
    name: "a deadline that has passed is refused before anything is sent",
    script: [{ text: "never" }],
    async check({ adapter, asked, clock }) {
      const deadline = Deadline.at(new Date(clock.now() - 1), clock);
      await failure(
        adapter.evaluate(promptWith(), { session: new Session(), deadline }),
        DeadlineExceededError,
      );
      same(asked().length, 0, "requests");
    },
  },
  {
    name: "a throttled request is sent again after the time the provider asked for",
    script: [{ throttle: { kind: "rate_limit", retryAfterMs: 45_000 } }, { text: "At last." }],
    async check({ adapter, clock, asked }) {
      const started = clock.now();
      const { text } = await adapter.evaluate(promptWith(), { session: new Session() });
      same([text, asked().length], ["At last.", 2], "answer and requests");
      if (clock.now() - started < 45_000)
        throw new Error("It did not wait as long as it was asked to");
    },
  },
  {
    name: "a spent quota is not asked again",
    script: [{ throttle: { kind: "quota_exhausted" } }, { text: "never" }],
    async check({ adapter, asked }) {
      const work = adapter.evaluate(promptWith(), { session: new Session() });
      const error = await failure(work, ThrottleError);
      same([error.kind, error.attempts, asked().length], ["quota_exhausted", 1, 1], "error");
    },
  },
];
