import { orAborted } from "../../base/clock.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { recordAt, recordsAt, textAt } from "../../base/reading.ts";
import type { Tool } from "../../tools/tool.ts";
import { type ClaudeSdk, UserMessages } from "../sdk.ts";
import { type BridgedAnswer, ownName, ToolBridge } from "../tools/tool-bridge.ts";
import { NativeCallTracker, type NativeHooks, readError, readUse } from "./native-call-tracker.ts";
import { hasRead, joinNews, reduceRun, takeStep } from "./reduce-run.ts";
import {
  ANSWER_TOOL,
  initialRun,
  type RunInput,
  type RunState,
  type RunStep,
} from "./run-state.ts";
import { type Hook, splitHookOutput } from "./split-hook-output.ts";

/** What a run of the SDK needs. */
export interface RunSettings {
  readonly sdk: ClaudeSdk;
  /** The SDK's options that do not depend on the conversation. */
  readonly options: UnknownRecord;
  readonly native: NativeHooks;
  /** Called when the SDK has compacted the conversation. */
  compacted(about: UnknownRecord): void;
}

/** Hooks may wait a week, because our tools take as long as they need. */
const HOOK_TIMEOUT_SECONDS = 7 * 24 * 3600;

/** Enough for a prompt of 140,000 characters that is rendered again. */
const BATCH_PARTS = 16;

const runEnded: BridgedAnswer = Object.freeze({ text: "The evaluation has ended.", isError: true });

/**
 * Drives one run of the SDK, in this order. `start` sends the prompt. The SDK then works by itself:
 * it sends messages, calls hooks and calls our tools, and `reduceRun` turns each of these into the
 * next state. When the SDK waits for us, in a call of our tools or after the calls of a message,
 * `next` returns a step, and `answer` lets the SDK continue. Its result is the last step.
 */
export class ClaudeRun {
  readonly #settings: RunSettings;
  readonly #bridge = new ToolBridge(({ callId }) => this.#onCall(callId));
  readonly #messages = new UserMessages();
  readonly #native: NativeCallTracker;
  #state: RunState = initialRun;
  #changed = Promise.withResolvers<void>();
  #reading: Promise<void> | null = null;

  constructor(settings: RunSettings) {
    this.#settings = settings;
    this.#native = new NativeCallTracker(settings.native, (input) => this.#dispatch(input));
  }

  /** Starts the SDK with the first message. */
  async start(content: readonly object[], tools: readonly Tool[]): Promise<void> {
    await this.#bridge.offer(tools);
    this.#messages.put(content);
    this.#reading = this.#read();
  }

  /** Waits for the next step. Throws if the SDK ends without a result. */
  async next(signal: AbortSignal): Promise<RunStep> {
    for (;;) {
      const changed = this.#changed.promise; // taken first, so that no change is missed
      const { fault, end } = this.#state;
      if (fault) throw fault.error;
      const taken = takeStep(this.#state, (name) => this.#isNative(name));
      if (taken) {
        this.#state = taken.state;
        return taken.step;
      }
      if (end) throw end.error ?? new Error("it ended without an answer");
      await orAborted(changed, signal);
    }
  }

  /** Gives the SDK what our tools returned, and notes for the model, so that it continues. */
  async answer(
    answers: ReadonlyMap<string, BridgedAnswer>,
    { notes, tools }: { readonly notes: readonly string[]; readonly tools: readonly Tool[] },
  ): Promise<void> {
    await this.#bridge.offer(tools);
    this.#dispatch({ type: "answered", answers, notes });
  }

  /** Sends one more message to the model, after a request that failed. */
  say(text: string): void {
    this.#dispatch({ type: "asked" });
    this.#messages.put([{ type: "text", text }]);
  }

  /** Releases everything that waits. The owner of the process ends it. */
  close(): void {
    this.#messages.close();
    this.#dispatch({ type: "closed" });
  }

  /** Settles when the SDK has sent its last message. */
  async ended(): Promise<void> {
    await this.#reading;
  }

  /** Whether the SDK has given its result: its process ends by itself once the run is closed. */
  get isAnswered(): boolean {
    return this.#state.result !== null;
  }

  async #read(): Promise<void> {
    const { sdk, options } = this.#settings;
    const hooks = { ...recordAt(options, "hooks"), ...this.#hooks() };
    const all = { ...options, hooks, mcpServers: this.#bridge.servers };
    let error: unknown = null;
    try {
      for await (const said of sdk.query({ prompt: this.#messages, options: all }))
        if (isPlainObject(said)) this.#onMessage(said);
    } catch (thrown) {
      error = thrown;
    }
    this.#bridge.close();
    this.#dispatch({ type: "ended", error });
  }

  #onMessage(said: UnknownRecord): void {
    this.#dispatch({ type: "said", said });
    if (said["subtype"] === "compact_boundary")
      this.#settings.compacted(recordAt(said, "compact_metadata"));
  }

  /** Holds the SDK in a call of one of our tools until the call is answered. */
  async #onCall(callId: string): Promise<BridgedAnswer> {
    this.#native.idle(); // the SDK never runs a call of ours beside one of its own
    this.#dispatch({ type: "called", callId });
    await this.#until(({ answers, phase }) => answers.has(callId) || phase === "closed");
    const answer = this.#state.answers.get(callId) ?? runEnded;
    this.#dispatch({ type: "collected", callId });
    return answer;
  }

  #hooks(): UnknownRecord {
    const inParts = splitHookOutput("PostToolBatch", BATCH_PARTS, (input) => this.#onBatch(input));
    const hook = (...hooks: readonly Hook[]) => [{ hooks, timeout: HOOK_TIMEOUT_SECONDS }];
    return {
      PreToolUse: hook((input) => this.#beforeCall(input)),
      PostToolUse: hook((input) => this.#afterCall(input)),
      PostToolUseFailure: hook((input) => this.#afterCall(input)),
      PostToolBatch: hook(...inParts),
    };
  }

  async #beforeCall(input: UnknownRecord): Promise<UnknownRecord> {
    const { id, name } = readUse(input);
    if (this.#native.isOn(name)) return await this.#native.before(input);
    if (ownName(name) !== null) this.#dispatch({ type: "announced", callId: id });
    return {};
  }

  async #afterCall(input: UnknownRecord): Promise<UnknownRecord> {
    const { name } = readUse(input);
    if (name === ANSWER_TOOL)
      this.#dispatch({ type: "structured", isAccepted: readError(input) === null });
    if (this.#native.isOn(name)) await this.#native.after(input);
    return {};
  }

  /** Holds the SDK after the calls of a message, and returns what the model is to read besides. */
  async #onBatch(input: UnknownRecord): Promise<string> {
    const calls = recordsAt(input, "tool_calls");
    await this.#native.endBatch(calls, this.#state.settled);
    const callIds = calls.map((call) => textAt(call, "tool_use_id"));
    // The SDK may call the hook before we have read the message that the calls are in.
    await this.#until((state) => hasRead(state, callIds));
    this.#dispatch({ type: "batchEnded" });
    await this.#until(({ phase }) => phase !== "paused");
    const news = joinNews(this.#state);
    this.#dispatch({ type: "batchTold" });
    return news;
  }

  #isNative(name: string): boolean {
    return name === ANSWER_TOOL || this.#native.isOn(name);
  }

  #dispatch(input: RunInput): void {
    this.#state = reduceRun(this.#state, input);
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }

  async #until(isTrue: (state: RunState) => boolean): Promise<void> {
    while (!isTrue(this.#state)) await this.#changed.promise;
  }
}
