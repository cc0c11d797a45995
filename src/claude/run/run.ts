import { orAborted } from "../../base/clock.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { recordAt, recordsAt, textAt } from "../../base/reading.ts";
import { addUsage, noUsage, type TokenUsage } from "../../base/usage.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Given } from "../given.ts";
import { isSynthetic, MessageReader, type ModelMessage, type ToolUse } from "../model-message.ts";
import type { ClaudeSdk } from "../sdk.ts";
import {
  failureIn,
  type NativeCall,
  type NativeHooks,
  NativeWatch,
  useOf,
} from "../tools/native-watch.ts";
import { type BridgedAnswer, ownName, ToolBridge } from "../tools/tool-bridge.ts";
import { inParts } from "./hook-parts.ts";
import { Inbox } from "./inbox.ts";
import { ParkedCalls } from "./parked-calls.ts";
import { mayPass } from "./run-failure.ts";

export interface RunSettings {
  readonly sdk: ClaudeSdk;
  /** All that does not depend on the conversation. */
  readonly options: Given;
  readonly native: NativeHooks;
  /** Told that the SDK has made the conversation shorter. */
  compacted(about: Given): void;
}

/** What has happened up to a point at which the SDK waits for us, or has ended. */
export interface RunStep {
  /** The last message; `null` if the model has said nothing since the step before. */
  readonly message: ModelMessage | null;
  /** What the model said; where it was cut off and went on, all of it. */
  readonly text: string;
  /** Calls that are not of the SDK's own tools, in the model's order. */
  readonly calls: readonly ToolUse[];
  readonly native: readonly NativeCall[];
  readonly usage: TokenUsage;
  /** How it ended; `null` if it goes on. */
  readonly result: Given | null;
  /** What the SDK said of a request that failed for good. */
  readonly failure: Given | null;
  /** The SDK is about to send the very first request again, after a pause. */
  readonly retry: Given | null;
}

/** The SDK's own tool for an answer that has a schema. */
export const ANSWER_TOOL = "StructuredOutput";

/** Hooks wait for us as long as our tools take. */
const PATIENCE_SECONDS = 7 * 24 * 3600;

/** Enough for a prompt of 140,000 characters that is rendered anew. */
const BATCH_PARTS = 16;

/**
 * One run of the SDK. It works by itself up to the next point where it needs us, and waits there
 * until it is answered: in a call of one of our tools, or after the calls of a message.
 */
export class ClaudeRun {
  readonly #settings: RunSettings;
  readonly #bridge: ToolBridge;
  readonly #inbox = new Inbox();
  readonly #reader = new MessageReader();
  readonly #parked = new ParkedCalls();
  readonly #native: NativeWatch;
  /** Calls of our tools that the SDK was about to make. */
  readonly #announced = new Set<string>();
  #usage: TokenUsage = noUsage;
  #text = "";
  #isCutOff = false;
  /** Numbers of messages: the last one that was counted, shown, and whose calls were handed out. */
  #counted = 0;
  #shown = 0;
  #handedOut = 0;
  #notes: readonly string[] = [];
  #batch: (() => void) | null = null;
  #isClosed = false;
  #isAnswered = false;
  #retry: Given | null = null;
  #failure: Given | null = null;
  #result: Given | null = null;
  #ended: { readonly error: unknown } | null = null;
  #changed = Promise.withResolvers<void>();
  #reading: Promise<void> | null = null;

  constructor(settings: RunSettings) {
    this.#settings = settings;
    this.#native = new NativeWatch(settings.native);
    this.#bridge = new ToolBridge(({ callId }) => this.#called(callId));
  }

  /** Starts the SDK with the first message. */
  async start(content: readonly object[], tools: readonly Tool[]): Promise<void> {
    await this.#bridge.offer(tools);
    this.#inbox.put(content);
    this.#reading = this.#read();
  }

  /** One more message to the model, after a request that failed. */
  say(text: string): void {
    this.#result = null;
    this.#failure = null;
    this.#inbox.put([{ type: "text", text }]);
  }

  /** What has happened when the SDK needs us, or has ended. Throws if it ended without a word. */
  async next(signal: AbortSignal): Promise<RunStep> {
    for (;;) {
      const changed = this.#changed.promise; // whatever changes from here on is noticed
      if (this.#native.fault) throw this.#native.fault.error;
      const step = this.#step();
      if (step) return step;
      if (this.#ended) throw this.#ended.error ?? new Error("it ended without an answer");
      await orAborted(changed, signal);
    }
  }

  /** What our tools gave, and what the model is to read besides; the SDK goes on. */
  async answer(
    answers: ReadonlyMap<string, BridgedAnswer>,
    { notes, tools }: { readonly notes: readonly string[]; readonly tools: readonly Tool[] },
  ): Promise<void> {
    await this.#bridge.offer(tools);
    this.#notes = notes;
    for (const [callId, answer] of answers) this.#parked.answer(callId, answer);
    this.#batch?.();
  }

  /** Lets go of everything that waits; the process is ended by whoever started it. */
  close(): void {
    this.#isClosed = true;
    this.#inbox.close();
    this.#parked.close();
    this.#batch?.();
    this.#wake();
  }

  /** Settles when the SDK has nothing more to say. */
  async ended(): Promise<void> {
    await this.#reading;
  }

  /** Whether it has come to its end, so that the SDK ends by itself. */
  get isAnswered(): boolean {
    return this.#result !== null;
  }

  #step(): RunStep | null {
    const { message } = this.#reader;
    if (this.#retry && message === null) return this.#made([]);
    if (this.#result) return this.#made([]);
    if (!message?.isComplete || message.number === this.#handedOut) return null;
    const calls = message.uses.filter(
      ({ id, name }) => !this.#isNative(name) && !this.#isDenied(id),
    );
    const isCalled = calls.some(({ id }) => this.#parked.isWaiting(id));
    if (!isCalled && !this.#batch) return null;
    this.#handedOut = message.number;
    return this.#made(calls);
  }

  #made(calls: readonly ToolUse[]): RunStep {
    const { message } = this.#reader;
    const isNew = message !== null && message.number > this.#shown;
    const step = {
      message: isNew ? message : null,
      text: this.#text,
      calls,
      native: this.#native.take(message?.uses ?? []),
      usage: this.#usage,
      result: this.#result,
      failure: this.#failure,
      retry: message === null ? this.#retry : null,
    };
    this.#shown = message?.number ?? 0;
    this.#usage = noUsage;
    this.#text = "";
    this.#isCutOff = false;
    return step;
  }

  #wake(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    resolve();
  }

  #isNative(name: string): boolean {
    return name === ANSWER_TOOL || this.#native.isOn(name);
  }

  /** It was about to be called, and was not: the SDK does not permit it, and has told the model so. */
  #isDenied(callId: string): boolean {
    return this.#batch !== null && this.#announced.has(callId) && !this.#parked.isWaiting(callId);
  }

  async #read(): Promise<void> {
    const { sdk, options } = this.#settings;
    const hooks = { ...recordAt(options, "hooks"), ...this.#hooks() };
    const ours = { hooks, mcpServers: this.#bridge.servers };
    try {
      const said = sdk.query({ prompt: this.#inbox, options: { ...options, ...ours } });
      for await (const one of said) {
        if (isPlainObject(one)) this.#take(one);
        this.#wake();
      }
      this.#ended = { error: null };
    } catch (error) {
      this.#ended = { error };
    }
    this.#bridge.close();
    this.#wake();
  }

  #take(said: Given): void {
    if (this.#reader.take(said)) {
      this.#failure = null;
      this.#count();
    } else if (said["type"] === "assistant" && isSynthetic(said)) this.#failure = said;
    else if (said["type"] === "result") this.#result = said;
    else if (said["subtype"] === "api_retry" && mayPass(said)) this.#retry = said;
    else if (said["subtype"] === "compact_boundary")
      this.#settings.compacted(recordAt(said, "compact_metadata"));
  }

  #count(): void {
    const { message } = this.#reader;
    if (!message?.isComplete || message.number === this.#counted) return;
    this.#counted = message.number;
    this.#usage = addUsage(this.#usage, message.usage);
    this.#text = this.#isCutOff ? this.#text + message.text : message.text;
    this.#isCutOff = message.stopReason === null || message.stopReason === "max_tokens";
  }

  async #called(callId: string): Promise<BridgedAnswer> {
    this.#native.idle(); // the SDK runs a call of ours by itself
    const answer = this.#parked.arrive(callId);
    this.#wake();
    return await answer;
  }

  #hooks(): Given {
    const hook = (run: (input: Given) => Promise<Given>) => [
      { hooks: [run], timeout: PATIENCE_SECONDS },
    ];
    return {
      PreToolUse: hook((input) => this.#beforeCall(input)),
      PostToolUse: hook((input) => this.#afterCall(input)),
      PostToolUseFailure: hook((input) => this.#afterCall(input)),
      PostToolBatch: [
        {
          hooks: inParts("PostToolBatch", BATCH_PARTS, (input) => this.#afterCalls(input)),
          timeout: PATIENCE_SECONDS,
        },
      ],
    };
  }

  async #beforeCall(input: Given): Promise<Given> {
    const { id, name } = useOf(input);
    if (this.#native.isOn(name)) return await this.#native.before(input);
    if (ownName(name) !== null) this.#announced.add(id);
    return {};
  }

  async #afterCall(input: Given): Promise<Given> {
    const { name } = useOf(input);
    if (name === ANSWER_TOOL) this.#isAnswered = failureIn(input) === null;
    if (!this.#native.isOn(name)) return {};
    await this.#native.after(input);
    this.#wake();
    return {};
  }

  /** The last moment before the next request; gives what the model is to read besides. */
  async #afterCalls(input: Given): Promise<string> {
    const calls = recordsAt(input, "tool_calls");
    await this.#native.batchEnded(calls);
    this.#wake();
    await this.#readUpTo(calls.map((call) => textAt(call, "tool_use_id")));
    const isHandedOut = this.#reader.message?.number === this.#handedOut;
    if (!this.#isAnswered && !isHandedOut && !this.#isClosed) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#batch = resolve;
      this.#wake();
      await promise;
      this.#batch = null;
    }
    this.#isAnswered = false;
    this.#announced.clear();
    const context = [...this.#parked.takeLeftOver(), ...this.#notes];
    this.#notes = [];
    return context.join("\n\n");
  }

  /** A hook may come before what the SDK said first has been read. */
  async #readUpTo(calls: readonly string[]): Promise<void> {
    const isRead = () => this.#reader.message?.uses.some(({ id }) => calls.includes(id)) ?? false;
    while (calls.length > 0 && !isRead() && !this.#isClosed && !this.#ended) {
      await this.#changed.promise;
    }
  }
}
