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
export interface MessagesFixture {
  readonly provider: LocalProvider;
  /** The base URL for Anthropic's clients, without `/v1`. */
  readonly base: string;
  /** The requests that the model received. */
  readonly asked: readonly ModelRequest[];
  /** Sends a `POST` with a body, or a request to any other route: `GET /api/hello`. */
  ask(body: unknown, route?: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends a message request that must succeed. Missing fields come from `plain`. */
  message(body?: WireItem, headers?: Readonly<Record<string, string>>): Promise<WireItem>;
  /** Sends a streaming message request and reads the whole stream. */
  stream(
    body?: WireItem,
    headers?: Readonly<Record<string, string>>,
  ): Promise<readonly (WireItem & { readonly type: string })[]>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: WireItem;
}

/** A minimal request. */
export const plain = {
  model: "claude-any",
  max_tokens: 4000,
  messages: [{ role: "user", content: "Hi." }],
};

/** Creates a tool of the client. */
export function clientTool(name: string): WireItem {
  return { name, description: `Does ${name}.`, input_schema: { type: "object", properties: {} } };
}

export async function startMessagesFixture(
  script: ModelScript,
  options: LocalProviderOptions = {},
): Promise<MessagesFixture> {
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
  const ask: MessagesFixture["ask"] = async (body, route = "POST /v1/messages", headers = {}) => {
    const [method = "POST", path = ""] = route.split(" ");
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(base + path, {
      method,
      headers: { ...JSON_TYPE, ...headers },
      ...text,
    });
    const answer = await response.text();
    const json: unknown = answer === "" ? {} : JSON.parse(answer);
    return { status: response.status, headers: response.headers, body: { ...Object(json) } };
  };
  return {
    provider,
    base,
    asked,
    ask,
    async message(body = {}, headers = {}) {
      const answer = await ask({ ...plain, ...body }, undefined, headers);
      if (answer.status === 200) return answer.body;
      throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    },
    async stream(body = {}, headers = {}) {
      const text = JSON.stringify({ ...plain, ...body, stream: true });
      const init = { method: "POST", headers: { ...JSON_TYPE, ...headers }, body: text };
      const response = await fetch(`${base}/v1/messages?beta=true`, init);
      return parseMessageEvents(await response.text());
    },
  };
}

const JSON_TYPE = { "content-type": "application/json" };

/** Parses the events of a stream. Each event is named twice, by the same name. */
export function parseMessageEvents(
  text: string,
): readonly (WireItem & { readonly type: string })[] {
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
