import { raceAbort } from "../../base/clock.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readRecords, readString, type UnknownRecord } from "../../base/json.ts";
import type { Tool } from "../../tools/tool.ts";
import { type ClaudeSdk, UserMessages } from "../sdk.ts";
import { type BridgedAnswer, ToolBridge, toToolName } from "../tools/tool-bridge.ts";
import {
  NativeCallTracker,
  type NativeHooks,
  readError,
  readToolUse,
} from "./native-call-tracker.ts";
import { hasReadMessage, joinBatchTexts, reduceRun, takeStep } from "./reduce-run.ts";
import {
  ANSWER_TOOL,
  initialRun,
  type RunInput,
  type RunState,
  type RunStep,
} from "./run-state.ts";
import { type Hook, splitHookOutput } from "./split-hook-output.ts";
import type { TurnReporter } from "./turn-reporter.ts";

/** Settings of an SDK run. */
export interface RunSettings {
  readonly sdk: ClaudeSdk;
  /** The SDK's options, except its tools and the run's own hooks. */
  readonly options: UnknownRecord;
  readonly native: NativeHooks;
  /** Receives the messages and native calls of the run. */
  readonly reporter: TurnReporter;
  /** A longer wait of the SDK before it repeats a request is reported as a step. @default any wait */
  readonly maxRetryMs?: number | undefined;
  /** Called with the SDK's metadata when it has compacted the conversation. */
  onCompacted(metadata: UnknownRecord): void;
  /** Called with a message's calls when they have ended, and the ids of those that failed. @default does nothing */
  readonly onBatch?:
    | ((calls: readonly UnknownRecord[], failedIds: ReadonlySet<string>) => void)
    | undefined;
}

/** One week, because hooks wait for the prompt's tools, which have no time limit. */
const HOOK_TIMEOUT_SECONDS = 7 * 24 * 3600;

/** Enough hooks to resend a prompt of 140,000 characters. */
const BATCH_PARTS = 16;

const RUN_ENDED_ANSWER: BridgedAnswer = Object.freeze({
  text: "The evaluation has ended.",
  isError: true,
});

/**
 * Drives one run of the SDK, in this order. `start` sends the prompt. The SDK then works on its own:
 * it sends messages, calls hooks and calls the prompt's tools, and `reduceRun` computes the next state
 * for each of these. When the SDK waits, in a call to the prompt's tools or after a batch of calls,
 * `next` returns a step, and `answer` lets the SDK continue. The last step contains the result.
 */
export class ClaudeRun {
  readonly #settings: RunSettings;
  readonly #bridge = new ToolBridge(({ callId }) => this.#onCall(callId));
  readonly #messages = new UserMessages();
  readonly #native: NativeCallTracker;
  /** Ids of calls that have failed since the last batch, structured answers that were rejected included. */
  readonly #failedIds = new Set<string>();
  #state: RunState = initialRun;
  #changed = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  #reading: Promise<void> | null = null;

  constructor(settings: RunSettings) {
    this.#settings = settings;
    this.#native = new NativeCallTracker(settings.native, (input) => this.#dispatch(input));
  }

  /** Starts the SDK with the first message. */
  async start(content: readonly object[], tools: readonly Tool[]): Promise<void> {
    await this.#bridge.offer(tools);
    this.#messages.add(content);
    this.#reading = this.#readMessages();
  }

  /** Waits for the next step. Throws if the SDK ends without a result. */
  async next(signal: AbortSignal): Promise<RunStep> {
    for (;;) {
      const changed = this.#changed.promise; // read first, so that no change is missed
      const { fault, end } = this.#state;
      if (fault) throw fault.error;
      const { maxRetryMs } = this.#settings;
      const taken = takeStep(this.#state, (name) => this.#isNative(name), maxRetryMs);
      if (taken) {
        this.#state = taken.state;
        return taken.step;
      }
      if (end) throw end.error ?? new Error("it ended without an answer");
      await raceAbort(changed, signal);
    }
  }

  /** Passes tool results and notes for the model to the SDK, which then continues. */
  async answer(
    answers: ReadonlyMap<string, BridgedAnswer>,
    { notes, tools }: { readonly notes: readonly string[]; readonly tools: readonly Tool[] },
  ): Promise<void> {
    await this.#bridge.offer(tools);
    this.#dispatch({ type: "callsAnswered", answers, notes });
  }

  /** Sends another message to the model, after a failed request. */
  sendText(text: string): void {
    this.#dispatch({ type: "messageSent" });
    this.#messages.add([{ type: "text", text }]);
  }

  /** Releases all waiting calls. Does not stop the process. */
  close(): void {
    this.#closed.resolve();
    this.#messages.close();
    this.#dispatch({ type: "closed" });
  }

  /** Waits for the SDK's last message. */
  async waitForEnd(): Promise<void> {
    await this.#reading;
  }

  /** Whether the SDK has sent its result, so that its process exits when the run is closed. */
  get hasResult(): boolean {
    return this.#state.result !== null;
  }

  async #readMessages(): Promise<void> {
    const { sdk, options } = this.#settings;
    const hooks = { ...readRecord(options, "hooks"), ...this.#createHooks() };
    const all = { ...options, hooks, mcpServers: this.#bridge.servers };
    let error: unknown = null;
    try {
      for await (const message of sdk.query({ prompt: this.#messages, options: all })) {
        if (isPlainObject(message)) this.#onMessage(message);
        const { backlog } = this.#settings.reporter;
        if (backlog) await Promise.race([backlog, this.#closed.promise]);
      }
    } catch (thrown) {
      error = thrown;
    }
    this.#bridge.close();
    this.#dispatch({ type: "ended", error });
  }

  #onMessage(message: UnknownRecord): void {
    this.#settings.reporter.onMessage(message);
    this.#dispatch({ type: "messageReceived", message });
    if (message["subtype"] === "compact_boundary")
      this.#settings.onCompacted(readRecord(message, "compact_metadata"));
  }

  /** Blocks the SDK in a call to the prompt's tools until there is an answer. */
  async #onCall(callId: string): Promise<BridgedAnswer> {
    this.#native.onIdle(); // the SDK never runs a bridged call and a native call at the same time
    this.#dispatch({ type: "callStarted", callId });
    await this.#waitUntil(({ answers, phase }) => answers.has(callId) || phase === "closed");
    const answer = this.#state.answers.get(callId) ?? RUN_ENDED_ANSWER;
    this.#dispatch({ type: "answerCollected", callId });
    return answer;
  }

  #createHooks(): UnknownRecord {
    const batchHooks = splitHookOutput("PostToolBatch", BATCH_PARTS, (input) =>
      this.#onBatch(input),
    );
    const createMatcher = (...hooks: readonly Hook[]) => [{ hooks, timeout: HOOK_TIMEOUT_SECONDS }];
    return {
      PreToolUse: createMatcher((input) => this.#beforeCall(input)),
      PostToolUse: createMatcher((input) => this.#afterCall(input)),
      PostToolUseFailure: createMatcher((input) => this.#afterCall(input)),
      PostToolBatch: createMatcher(...batchHooks),
    };
  }

  async #beforeCall(input: UnknownRecord): Promise<UnknownRecord> {
    const { id, name } = readToolUse(input);
    if (this.#native.isEnabled(name)) {
      this.#settings.reporter.onCallStarted(name);
      return await this.#native.beforeCall(input);
    }
    if (toToolName(name) !== null) this.#dispatch({ type: "callAnnounced", callId: id });
    return {};
  }

  async #afterCall(input: UnknownRecord): Promise<UnknownRecord> {
    const { id, name } = readToolUse(input);
    const hasFailed = readError(input) !== null;
    if (hasFailed) this.#failedIds.add(id);
    if (name === ANSWER_TOOL) this.#dispatch({ type: "outputChecked", isAccepted: !hasFailed });
    if (this.#native.isEnabled(name)) await this.#native.afterCall(input);
    return {};
  }

  /** Blocks the SDK after a batch of calls, then returns additional text for the model. */
  async #onBatch(input: UnknownRecord): Promise<string> {
    const calls = readRecords(input, "tool_calls");
    await this.#native.endBatch(calls, this.#state.settled);
    // Calls that were not allowed to run are only here.
    const denied = this.#state.native.filter(({ error }) => error !== null).map(({ id }) => id);
    this.#settings.onBatch?.(calls, new Set([...denied, ...this.#failedIds]));
    this.#failedIds.clear();
    const callIds = calls.map((call) => readString(call, "tool_use_id"));
    // The SDK may call the hook before the message with these calls was received.
    await this.#waitUntil((state) => hasReadMessage(state, callIds));
    this.#dispatch({ type: "batchEnded" });
    await this.#waitUntil(({ phase }) => phase !== "paused");
    const text = joinBatchTexts(this.#state);
    this.#dispatch({ type: "batchReported" });
    return text;
  }

  #isNative(name: string): boolean {
    return name === ANSWER_TOOL || this.#native.isEnabled(name);
  }

  #dispatch(input: RunInput): void {
    if (input.type === "nativeCallEnded") this.#settings.reporter.onCallEnded(input.call);
    this.#state = reduceRun(this.#state, input);
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }

  async #waitUntil(isTrue: (state: RunState) => boolean): Promise<void> {
    while (!isTrue(this.#state)) await this.#changed.promise;
  }
}
