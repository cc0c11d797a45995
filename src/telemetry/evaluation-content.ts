import type {
  PromptExecuted,
  PromptRendered,
  ToolInvoked,
  TurnCompleted,
} from "../adapter/events.ts";
import type { FinishReason } from "../adapter/model-client.ts";
import { isPlainObject } from "../base/freeze.ts";
import { shortenContent } from "../base/redact.ts";
import { toJsonData, toModelText } from "../tools/tool-result.ts";
import type { Attributes } from "./load-open-telemetry.ts";
import { toFinishReason } from "./outcome-attributes.ts";

/** A message that the next request adds to the conversation: the user's, or the result of a call. */
type AddedMessage =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "tool"; readonly text: string; readonly callId: string };

/**
 * The content of one evaluation as attributes. A request's input has only the messages that it adds to the
 * conversation; the whole conversation would grow with the square of the number of turns.
 */
export class EvaluationContent {
  readonly #maxLength: number;
  /** Attributes of the next request that describe the prompt. */
  #instructions: Attributes = {};
  #added: AddedMessage[] = [];
  #isRendered = false;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Returns the evaluation's attributes for a rendered prompt. */
  onRendered({ messages, input, tools, hostedTools }: PromptRendered): Attributes {
    const limit = this.#createLimit();
    const system = messages.filter(({ role }) => role === "system");
    const parts = system.map(({ text }) => limit.toTextPart(text));
    this.#instructions =
      parts.length > 0 ? { "gen_ai.system_instructions": JSON.stringify(parts) } : {};
    const users = messages.filter(({ role }) => role === "user").map(({ text }) => text);
    const texts = input === null ? users : [...users, input];
    const added = texts.map((text) => ({ role: "user" as const, text }));
    if (!this.#isRendered) this.#added.push(...added);
    this.#isRendered = true;
    return {
      ...this.#instructions,
      ...this.#toInput(added),
      ...this.#toDefinitions(tools, hostedTools),
    };
  }

  /** Returns the attributes of a request that is about to be sent. */
  takeInput(): Attributes {
    const attributes = { ...this.#instructions, ...this.#toInput(this.#added) };
    this.#added = [];
    this.#instructions = {};
    return attributes;
  }

  /** Returns the attributes of a response. */
  onTurn({ text, toolCalls, finishReason = "stop" }: TurnCompleted): Attributes {
    const limit = this.#createLimit();
    const answer = text === "" ? [] : [limit.toTextPart(text)];
    const calls = toolCalls.map(({ name, callId, arguments: given }) => ({
      ...{ type: "tool_call", id: callId, name },
      arguments: limit.cut(given),
    }));
    return toOutput([...answer, ...calls], finishReason);
  }

  /** Returns the attributes of a call that has run. */
  onInvoked({ callId, params, result, renderedOutput, origin }: ToolInvoked): Attributes {
    const text = toModelText(result, renderedOutput);
    if (!origin) this.#added.push({ role: "tool", text, callId });
    const given = isPlainObject(params) && params["rejected"] === true ? params["given"] : params;
    return {
      ...(given !== null && {
        "gen_ai.tool.call.arguments": this.limitText(toArgumentText(given)),
      }),
      "gen_ai.tool.call.result": this.limitText(text),
    };
  }

  /** Returns the evaluation's attributes for its answer. */
  onExecuted({ text, finishReason }: PromptExecuted): Attributes {
    return toOutput([this.#createLimit().toTextPart(text)], finishReason);
  }

  /** Returns a text, shortened to the limit. */
  limitText(text: string): string {
    return this.#createLimit().cut(text);
  }

  #toInput(messages: readonly AddedMessage[]): Attributes {
    if (messages.length === 0) return {};
    const limit = this.#createLimit();
    const formatted = messages.map((message) => {
      const { role, text } = message;
      if (role === "user") return { role, parts: [limit.toTextPart(text)] };
      const response = {
        type: "tool_call_response",
        id: message.callId,
        response: limit.cut(text),
      };
      return { role, parts: [response] };
    });
    return { "gen_ai.input.messages": JSON.stringify(formatted) };
  }

  /** Lists the tools: with their schemas, if the limit allows, or else only with their names. */
  #toDefinitions(
    tools: PromptRendered["tools"],
    hostedTools: PromptRendered["hostedTools"],
  ): Attributes {
    if (tools.length + hostedTools.length === 0) return {};
    const hosted = hostedTools.map(({ name, kind }) => ({ type: kind, name }));
    const described = tools.map(({ name, description, params: parameters }) => ({
      ...{ type: "function", name, description, parameters },
    }));
    const complete = JSON.stringify([...described, ...hosted]);
    if (complete.length <= this.#maxLength) return { "gen_ai.tool.definitions": complete };
    const named = described.map(({ type, name }) => ({ type, name }));
    const names = JSON.stringify([...named, ...hosted]);
    return names.length <= this.#maxLength ? { "gen_ai.tool.definitions": names } : {};
  }

  #createLimit(): Limit {
    return new Limit(this.#maxLength);
  }
}

/** The characters that an attribute has left for content. */
class Limit {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  toTextPart(text: string): object {
    return { type: "text", content: this.cut(text) };
  }

  /** Returns a text as far as there are characters left, and the number of omitted ones. */
  cut(text: string): string {
    if (text.length <= this.#left) {
      this.#left -= text.length;
      return text;
    }
    const kept = text.slice(0, this.#left);
    this.#left = 0;
    return `${kept.toWellFormed()}[${text.length - kept.length} more characters]`;
  }
}

function toOutput(parts: readonly object[], reason: FinishReason): Attributes {
  const message = { role: "assistant", parts, finish_reason: toFinishReason(reason) };
  return { "gen_ai.output.messages": JSON.stringify([message]) };
}

/** Returns the arguments of a call as JSON, with long base64 replaced by its length. */
function toArgumentText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(shortenContent(toJsonData(value)));
}
