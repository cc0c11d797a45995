import { onTestFinished } from "vitest";
import {
  LocalProvider,
  type LocalProviderOptions,
  type ModelRequest,
  type ModelScript,
  scriptedModel,
} from "../../../src/local/index.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { hostSandbox } from "../host-sandbox.ts";

/** Anthropic's Messages API of a local provider on a socket, for one test. */
export interface MessagesStage {
  readonly provider: LocalProvider;
  /** What Anthropic's clients take as base URL: without `/v1`. */
  readonly base: string;
  /** What the model was asked with. */
  readonly asked: readonly ModelRequest[];
  /** `POST` with a body, or any other route: `GET /api/hello`. */
  ask(body: unknown, route?: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** A message that must be answered; what is not said is as `plain` has it. */
  message(body?: WireItem): Promise<WireItem>;
  /** The same as a stream, read whole. */
  stream(body?: WireItem): Promise<readonly (WireItem & { readonly type: string })[]>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: WireItem;
}

/** The least that makes a request. */
export const plain = {
  model: "claude-any",
  max_tokens: 4000,
  messages: [{ role: "user", content: "Hi." }],
};

/** A tool of the client's. */
export function clientTool(name: string): WireItem {
  return { name, description: `Does ${name}.`, input_schema: { type: "object", properties: {} } };
}

export async function messagesStage(
  script: ModelScript,
  options: LocalProviderOptions = {},
): Promise<MessagesStage> {
  const asked: ModelRequest[] = [];
  const scripted = scriptedModel(script);
  const model: LocalProviderOptions["model"] = {
    respond: (request, more) => {
      asked.push(request);
      return scripted.respond(request, more);
    },
  };
  const provider = new LocalProvider({ model, sandbox: hostSandbox(), ...options });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  const base = url.replace(/\/v1$/, "");
  const ask: MessagesStage["ask"] = async (body, route = "POST /v1/messages", headers = {}) => {
    const [method = "POST", path = ""] = route.split(" ");
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(base + path, { method, headers: { ...headers }, ...text });
    const answer = await response.text();
    const json: unknown = answer === "" ? {} : JSON.parse(answer);
    return { status: response.status, headers: response.headers, body: { ...Object(json) } };
  };
  return {
    provider,
    base,
    asked,
    ask,
    async message(body = {}) {
      const answer = await ask({ ...plain, ...body });
      if (answer.status === 200) return answer.body;
      throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    },
    async stream(body = {}) {
      const init = { method: "POST", body: JSON.stringify({ ...plain, ...body, stream: true }) };
      const response = await fetch(`${base}/v1/messages?beta=true`, init);
      return eventsIn(await response.text());
    },
  };
}

/** The events of a stream; each is named twice, and by the same name. */
export function eventsIn(text: string): readonly (WireItem & { readonly type: string })[] {
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [, name, json] = /^event: (.*)\ndata: (.*)$/s.exec(event) ?? [];
      const data: unknown = JSON.parse(json ?? "null");
      const { type } = Object(data);
      if (type !== name) throw new Error(`The event ${name} says that it is ${type}`);
      return { ...Object(data), type: String(type) };
    });
}
