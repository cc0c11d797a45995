import { setImmediate } from "node:timers/promises";
import type { UnknownRecord } from "../../../src/base/reading.ts";
import { recordAt, textAt } from "../../../src/base/reading.ts";
import type { ClaudeSdk, SdkRequest, SdkUserMessage } from "../../../src/claude/sdk.ts";
import { type BridgeEnd, bridgeEnd, type NativeOutcome } from "./bridge-end.ts";

/** What happens to one request of the SDK. */
export type SdkStep =
  | ModelStep
  /** Said first; then, when `until` is there, the request is sent again. */
  | { readonly retry: UnknownRecord; readonly until: Promise<void> }
  /** The SDK's own words about a request that failed for good. */
  | { readonly failure: UnknownRecord; readonly words: string }
  /** The process ends, with an error or without a word. */
  | { readonly dies: Error | null };

/** What the model says. */
export interface ModelStep {
  readonly content: readonly UnknownRecord[];
  readonly stop?: string;
  readonly usage?: UnknownRecord;
  /** The end of the message comes no sooner. */
  readonly until?: Promise<void>;
}

export interface ScriptedSdkOptions {
  /** What the SDK's own tools give, by name; others are not there. */
  readonly native?: Readonly<Record<string, (input: UnknownRecord) => Promise<NativeOutcome>>>;
  /** Said before all else. */
  readonly says?: readonly unknown[];
  /** Rejects when the process dies, whatever it is at. */
  readonly dies?: Promise<never>;
}

/**
 * Does what the Claude Agent SDK was seen to do: the same messages, hooks and calls in the same
 * order, with a script for a model. A tool starts while its message is still being streamed, and
 * the tools of a message run one after the other.
 */
export class ScriptedSdk implements ClaudeSdk {
  /** What the model would have been sent: the tools there were, and what is new. */
  readonly requests: { readonly tools: readonly string[]; readonly news: readonly string[] }[] = [];
  /** With which the run was started. */
  options: UnknownRecord = {};
  /** Calls of the hooks and of our tools, in order. */
  readonly seen: string[] = [];
  readonly #steps: SdkStep[];
  readonly #native: NonNullable<ScriptedSdkOptions["native"]>;
  readonly #said: unknown[];
  readonly #dies: Promise<never> | undefined;
  #more = Promise.withResolvers<void>();
  #bridge: BridgeEnd | null = null;
  #news: string[] = [];
  #messages = 0;

  constructor(
    steps: readonly SdkStep[],
    { native = {}, says = [], dies }: ScriptedSdkOptions = {},
  ) {
    this.#steps = [...steps];
    this.#native = native;
    this.#said = [...says];
    this.#dies = dies;
  }

  async *query({ prompt, options }: SdkRequest): AsyncGenerator<unknown> {
    this.options = options;
    this.#bridge = await bridgeEnd(options);
    const end: { error?: unknown; isThere?: true } = {};
    Promise.race([this.#play(prompt), ...(this.#dies ? [this.#dies] : [])])
      .catch((error: unknown) => Object.assign(end, { error }))
      .finally(() => {
        Object.assign(end, { isThere: true });
        this.#bridge?.close();
        this.#more.resolve();
      });
    for (;;) {
      while (this.#said.length > 0) yield this.#said.shift();
      if (end.isThere) break;
      await this.#more.promise;
      this.#more = Promise.withResolvers<void>();
    }
    if (end.error !== undefined) throw end.error;
  }

  /** The process is gone: nothing can be sent to it any more. */
  cut(): void {
    this.#bridge?.close();
  }

  async #play(prompt: AsyncIterable<SdkUserMessage>): Promise<void> {
    let failed: string | null = null;
    for await (const { message } of prompt) {
      this.#news.push(...message.content.map((block) => textAt({ ...block }, "text")));
      this.#say({ type: "system", subtype: "init" });
      const ending = await this.#converse();
      if (ending === "died") return;
      failed = ending;
    }
    if (failed !== null) throw new Error(`Claude Code returned an error result: ${failed}`);
  }

  /** From one message of ours to a result; gives the words of one that is an error. */
  async #converse(): Promise<string | "died" | null> {
    for (;;) {
      this.#say({ type: "system", subtype: "status", status: "requesting" });
      this.requests.push({ tools: this.#bridge?.listed ?? [], news: this.#news });
      const step = this.#steps.shift();
      if (!step) throw new Error("The script is over");
      if ("dies" in step) {
        if (step.dies) throw step.dies;
        return "died";
      }
      if ("failure" in step) return this.#fail(step.failure, step.words);
      if ("retry" in step) {
        this.#say({ type: "system", subtype: "api_retry", ...step.retry });
        await step.until;
        continue;
      }
      this.#news = [];
      const ended = await this.#answer(step);
      if (ended) return null;
    }
  }

  #fail(failure: UnknownRecord, words: string): string {
    const content = [{ type: "text", text: words }];
    const message = {
      id: "synthetic",
      model: "<synthetic>",
      content,
      stop_reason: "stop_sequence",
    };
    const about = { is_api_error_message: true, ...failure };
    this.#say({ type: "assistant", parent_tool_use_id: null, message, ...about });
    this.#say({ type: "result", subtype: "success", is_error: true, result: words });
    return words;
  }

  /** Whether it was the end. */
  async #answer({ content, stop, usage, until }: ModelStep): Promise<boolean> {
    const id = `msg_${++this.#messages}`;
    const event = (of: UnknownRecord) =>
      this.#say({ type: "stream_event", parent_tool_use_id: null, event: of });
    const counted = { input_tokens: 10, output_tokens: 1, ...usage };
    const message = { id, type: "message", model: "claude-test", usage: counted };
    event({ type: "message_start", message: { ...message, content: [] } });
    let tools = Promise.resolve();
    const ended: UnknownRecord[] = [];
    for (const block of content) {
      event({ type: "content_block_start", content_block: block });
      const whole = { ...message, content: [block], stop_reason: null };
      const request_id = `req_${this.#messages}`;
      this.#say({ type: "assistant", parent_tool_use_id: null, request_id, message: whole });
      if (block["type"] === "tool_use")
        tools = tools.then(async () => void ended.push(await this.#runTool(block)));
      event({ type: "content_block_stop" });
    }
    await until;
    const stop_reason = stop ?? (content.some(isUse) ? "tool_use" : "end_turn");
    event({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 5 } });
    event({ type: "message_stop" });
    await tools;
    if (ended.length > 0) await this.#endBatch(ended);
    const structured = ended.find(isAnswer)?.["tool_input"];
    if (!structured && (ended.length > 0 || stop_reason === "max_tokens")) return false;
    const result = content.map((block) => textAt(block, "text")).join("");
    const answer = structured ? { structured_output: structured } : { result };
    this.#say({ type: "result", subtype: "success", is_error: false, stop_reason, ...answer });
    return true;
  }

  async #endBatch(calls: readonly UnknownRecord[]): Promise<void> {
    const { hookSpecificOutput = {} } = await this.#hook("PostToolBatch", { tool_calls: calls });
    const context = textAt(
      recordAt({ hookSpecificOutput }, "hookSpecificOutput"),
      "additionalContext",
    );
    if (context !== "") this.#news.push(context);
  }

  /** Runs a call; gives what the batch tells of it. */
  async #runTool(block: UnknownRecord): Promise<UnknownRecord> {
    const call = {
      tool_name: textAt(block, "name"),
      tool_use_id: textAt(block, "id"),
      tool_input: recordAt(block, "input"),
    };
    const ended = await this.#outcomeOf(call);
    const words = "response" in ended ? ended.response : problemOf(ended);
    const content = typeof words === "string" ? words : JSON.stringify(words);
    const result = { type: "tool_result", tool_use_id: call.tool_use_id, content };
    this.#news.push(content);
    this.#say({ type: "user", parent_tool_use_id: null, message: { content: [result] } });
    return { ...call, tool_response: words, isError: !("response" in ended) };
  }

  async #outcomeOf(call: {
    readonly tool_name: string;
    readonly tool_use_id: string;
    readonly tool_input: UnknownRecord;
  }): Promise<NativeOutcome> {
    const { tool_name, tool_use_id } = call;
    const bridged = this.#bridge?.listed.find((name) => `mcp__wink__${name}` === tool_name);
    const native = this.#native[tool_name];
    if (bridged === undefined && !native) {
      const error = `<tool_use_error>Error: No such tool available: ${tool_name}</tool_use_error>`;
      return { error };
    }
    const before = recordAt(await this.#hook("PreToolUse", call), "hookSpecificOutput");
    if (before["permissionDecision"] === "deny") {
      const reason = textAt(before, "permissionDecisionReason");
      return { error: `PreToolUse:${tool_name} hook error: ${reason}` };
    }
    const input = before["updatedInput"] ? recordAt(before, "updatedInput") : call.tool_input;
    const ended = native
      ? await native(input)
      : await this.#bridge?.call(tool_use_id, bridged ?? "", input);
    if (!ended) throw new Error("There is no server");
    if ("refused" in ended) return ended;
    const name = "error" in ended ? "PostToolUseFailure" : "PostToolUse";
    const told = "error" in ended ? { error: ended.error } : { tool_response: ended.response };
    await this.#hook(name, { ...call, tool_input: input, ...told, duration_ms: 7 });
    return ended;
  }

  async #hook(hook_event_name: string, about: UnknownRecord): Promise<UnknownRecord> {
    const [matcher] = Object(this.options["hooks"])[hook_event_name];
    await setImmediate(); // what was said before has been read by now
    this.seen.push(`${hook_event_name} ${textAt(about, "tool_use_id")}`.trim());
    try {
      return await matcher.hooks[0]({ hook_event_name, cwd: this.options["cwd"], ...about });
    } catch {
      this.#say({ type: "system", subtype: "informational" }); // and goes on as if there were none
      return {};
    }
  }

  #say(said: unknown): void {
    this.#said.push(said);
    this.#more.resolve();
  }
}

/** A block of what the model says. */
export function say(text: string): UnknownRecord {
  return { type: "text", text };
}

/** A call of a tool. */
export function use(id: string, name: string, input: UnknownRecord = {}): UnknownRecord {
  return { type: "tool_use", id, name, input };
}

function problemOf(ended: Exclude<NativeOutcome, { readonly response: unknown }>): string {
  return "error" in ended ? ended.error : ended.refused;
}

function isUse(block: UnknownRecord): boolean {
  return block["type"] === "tool_use";
}

function isAnswer(call: UnknownRecord): boolean {
  return call["tool_name"] === "StructuredOutput" && call["isError"] === false;
}
