import { setImmediate } from "node:timers/promises";
import { readRecord, readString, type UnknownRecord } from "../../../src/base/json.ts";
import type { ClaudeSdk, SdkRequest, SdkUserMessage } from "../../../src/claude/sdk.ts";
import { type BridgeClient, connectBridge, type NativeOutcome } from "./bridge-client.ts";

/** The outcome of one request of the SDK. */
export type SdkStep =
  | ModelStep
  /** The SDK reports a retry, and retries when `until` settles. */
  | { readonly retry: UnknownRecord; readonly until: Promise<void> }
  /** The SDK reports a request that failed after all retries. */
  | { readonly failure: UnknownRecord; readonly text: string }
  /** The process exits, with or without an error. */
  | { readonly exit: Error | null };

/** A message of the model. */
export interface ModelStep {
  readonly content: readonly UnknownRecord[];
  readonly stop?: string;
  readonly usage?: UnknownRecord;
  /** Delays the end of the message until it settles. */
  readonly until?: Promise<void>;
}

export interface ScriptedSdkOptions {
  /** The available native tools, by name. */
  readonly native?: Readonly<Record<string, (input: UnknownRecord) => Promise<NativeOutcome>>>;
  /** Messages that the SDK sends first. */
  readonly messages?: readonly unknown[];
  /** Rejects when the process crashes, at any time. */
  readonly crash?: Promise<never>;
}

/**
 * Imitates the observed behavior of the Claude Agent SDK: the same messages, hooks and calls in the
 * same order, with a scripted model. A tool starts while its message is still being streamed, and
 * tools in the same message run one after the other.
 */
export class ScriptedSdk implements ClaudeSdk {
  /** The requests to the model: the available tools, and the texts since the previous request. */
  readonly requests: { readonly tools: readonly string[]; readonly newTexts: readonly string[] }[] =
    [];
  /** The options of the last `query`. */
  options: UnknownRecord = {};
  /** Hook calls in order, as `"EventName toolUseId"`. */
  readonly hookCalls: string[] = [];
  readonly #steps: SdkStep[];
  readonly #native: NonNullable<ScriptedSdkOptions["native"]>;
  readonly #queue: unknown[];
  readonly #crash: Promise<never> | undefined;
  #changed = Promise.withResolvers<void>();
  #bridge: BridgeClient | null = null;
  #newTexts: string[] = [];
  #messages = 0;

  constructor(
    steps: readonly SdkStep[],
    { native = {}, messages = [], crash }: ScriptedSdkOptions = {},
  ) {
    this.#steps = [...steps];
    this.#native = native;
    this.#queue = [...messages];
    this.#crash = crash;
  }

  async *query({ prompt, options }: SdkRequest): AsyncGenerator<unknown> {
    this.options = options;
    this.#bridge = await connectBridge(options);
    const end: { error?: unknown; hasEnded?: true } = {};
    Promise.race([this.#run(prompt), ...(this.#crash ? [this.#crash] : [])])
      .catch((error: unknown) => Object.assign(end, { error }))
      .finally(() => {
        Object.assign(end, { hasEnded: true });
        this.#bridge?.close();
        this.#changed.resolve();
      });
    for (;;) {
      while (this.#queue.length > 0) yield this.#queue.shift();
      if (end.hasEnded) break;
      await this.#changed.promise;
      this.#changed = Promise.withResolvers<void>();
    }
    if (end.error !== undefined) throw end.error;
  }

  /** Closes the connection, as if the process had ended. */
  disconnect(): void {
    this.#bridge?.close();
  }

  async #run(prompt: AsyncIterable<SdkUserMessage>): Promise<void> {
    let failed: string | null = null;
    for await (const { message } of prompt) {
      this.#newTexts.push(...message.content.map((block) => readString({ ...block }, "text")));
      this.#emit({ type: "system", subtype: "init" });
      const ending = await this.#converse();
      if (ending === "exited") return;
      failed = ending;
    }
    if (failed !== null) throw new Error(`Claude Code returned an error result: ${failed}`);
  }

  /** Runs from one user message to a result. Returns the text of a failed result. */
  async #converse(): Promise<string | "exited" | null> {
    for (;;) {
      this.#emit({ type: "system", subtype: "status", status: "requesting" });
      this.requests.push({ tools: this.#bridge?.toolNames ?? [], newTexts: this.#newTexts });
      const step = this.#steps.shift();
      if (!step) throw new Error("The script has ended");
      if ("exit" in step) {
        if (step.exit) throw step.exit;
        return "exited";
      }
      if ("failure" in step) return this.#fail(step.failure, step.text);
      if ("retry" in step) {
        this.#emit({ type: "system", subtype: "api_retry", ...step.retry });
        await step.until;
        continue;
      }
      this.#newTexts = [];
      const ended = await this.#answer(step);
      if (ended) return null;
    }
  }

  #fail(failure: UnknownRecord, text: string): string {
    const content = [textBlock(text)];
    const message = {
      id: "synthetic",
      model: "<synthetic>",
      content,
      stop_reason: "stop_sequence",
    };
    const details = { is_api_error_message: true, ...failure };
    this.#emit({ type: "assistant", parent_tool_use_id: null, message, ...details });
    this.#emit({ type: "result", subtype: "success", is_error: true, result: text });
    return text;
  }

  /** Sends a model message and runs its tools. Returns whether the run has ended. */
  async #answer({ content, stop, usage, until }: ModelStep): Promise<boolean> {
    const id = `msg_${++this.#messages}`;
    const emitEvent = (event: UnknownRecord) =>
      this.#emit({ type: "stream_event", parent_tool_use_id: null, event });
    const counted = { input_tokens: 10, output_tokens: 1, ...usage };
    const message = { id, type: "message", model: "claude-test", usage: counted };
    emitEvent({ type: "message_start", message: { ...message, content: [] } });
    let tools = Promise.resolve();
    const ended: UnknownRecord[] = [];
    for (const block of content) {
      emitEvent({ type: "content_block_start", content_block: block });
      const whole = { ...message, content: [block], stop_reason: null };
      const request_id = `req_${this.#messages}`;
      this.#emit({ type: "assistant", parent_tool_use_id: null, request_id, message: whole });
      if (block["type"] === "tool_use")
        tools = tools.then(async () => void ended.push(await this.#runTool(block)));
      emitEvent({ type: "content_block_stop" });
    }
    await until;
    const stop_reason = stop ?? (content.some(isToolUse) ? "tool_use" : "end_turn");
    emitEvent({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 5 } });
    emitEvent({ type: "message_stop" });
    await tools;
    if (ended.length > 0) await this.#endBatch(ended);
    const structured = ended.find(isAnswer)?.["tool_input"];
    if (!structured && (ended.length > 0 || stop_reason === "max_tokens")) return false;
    const result = content.map((block) => readString(block, "text")).join("");
    const answer = structured ? { structured_output: structured } : { result };
    this.#emit({ type: "result", subtype: "success", is_error: false, stop_reason, ...answer });
    return true;
  }

  async #endBatch(calls: readonly UnknownRecord[]): Promise<void> {
    const { hookSpecificOutput = {} } = await this.#callHook("PostToolBatch", {
      tool_calls: calls,
    });
    const context = readString(
      readRecord({ hookSpecificOutput }, "hookSpecificOutput"),
      "additionalContext",
    );
    if (context !== "") this.#newTexts.push(context);
  }

  /** Runs a call and returns its entry in the batch. */
  async #runTool(block: UnknownRecord): Promise<UnknownRecord> {
    const call = {
      tool_name: readString(block, "name"),
      tool_use_id: readString(block, "id"),
      tool_input: readRecord(block, "input"),
    };
    const ended = await this.#runCall(call);
    const response = "response" in ended ? ended.response : toErrorText(ended);
    const content = typeof response === "string" ? response : JSON.stringify(response);
    const result = { type: "tool_result", tool_use_id: call.tool_use_id, content };
    this.#newTexts.push(content);
    this.#emit({ type: "user", parent_tool_use_id: null, message: { content: [result] } });
    return { ...call, tool_response: response, isError: !("response" in ended) };
  }

  async #runCall(call: {
    readonly tool_name: string;
    readonly tool_use_id: string;
    readonly tool_input: UnknownRecord;
  }): Promise<NativeOutcome> {
    const { tool_name, tool_use_id } = call;
    const bridged = this.#bridge?.toolNames.find((name) => `mcp__wink__${name}` === tool_name);
    const native = this.#native[tool_name];
    if (bridged === undefined && !native) {
      const error = `<tool_use_error>Error: No such tool available: ${tool_name}</tool_use_error>`;
      return { error };
    }
    const before = readRecord(await this.#callHook("PreToolUse", call), "hookSpecificOutput");
    if (before["permissionDecision"] === "deny") {
      const reason = readString(before, "permissionDecisionReason");
      return { error: `PreToolUse:${tool_name} hook error: ${reason}` };
    }
    const input = before["updatedInput"] ? readRecord(before, "updatedInput") : call.tool_input;
    const ended = native
      ? await native(input)
      : await this.#bridge?.call(tool_use_id, bridged ?? "", input);
    if (!ended) throw new Error("There is no server");
    if ("denied" in ended) return ended;
    const name = "error" in ended ? "PostToolUseFailure" : "PostToolUse";
    const outcome = "error" in ended ? { error: ended.error } : { tool_response: ended.response };
    await this.#callHook(name, { ...call, tool_input: input, ...outcome, duration_ms: 7 });
    return ended;
  }

  async #callHook(hook_event_name: string, input: UnknownRecord): Promise<UnknownRecord> {
    const [matcher] = Object(this.options["hooks"])[hook_event_name];
    await setImmediate(); // lets the run read earlier messages first
    this.hookCalls.push(`${hook_event_name} ${readString(input, "tool_use_id")}`.trim());
    try {
      return await matcher.hooks[0]({ hook_event_name, cwd: this.options["cwd"], ...input });
    } catch {
      this.#emit({ type: "system", subtype: "informational" }); // and continues without the hook
      return {};
    }
  }

  #emit(message: unknown): void {
    this.#queue.push(message);
    this.#changed.resolve();
  }
}

/** Creates a `text` block. */
export function textBlock(text: string): UnknownRecord {
  return { type: "text", text };
}

/** Creates a `tool_use` block. */
export function toolUse(id: string, name: string, input: UnknownRecord = {}): UnknownRecord {
  return { type: "tool_use", id, name, input };
}

function toErrorText(ended: Exclude<NativeOutcome, { readonly response: unknown }>): string {
  return "error" in ended ? ended.error : ended.denied;
}

function isToolUse(block: UnknownRecord): boolean {
  return block["type"] === "tool_use";
}

function isAnswer(call: UnknownRecord): boolean {
  return call["tool_name"] === "StructuredOutput" && call["isError"] === false;
}
