import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import {
  LocalProvider,
  type LocalProviderOptions,
  type ModelScript,
  scriptedModel,
} from "weakincentives/local";
import type { WireItem } from "../../../src/openai/wire.ts";
import { hostSandbox } from "../host-sandbox.ts";
import { createCheckedFetch, parseEvents } from "./checked-fetch.ts";

/** A provider on a socket, for one test. All its responses are validated against OpenAI's document. */
export interface ProviderFixture {
  readonly provider: LocalProvider;
  /** Ends in `/v1`. */
  readonly url: string;
  /** A validating fetch over the socket. */
  readonly fetch: typeof globalThis.fetch;
  /** Sends a request and reads the whole response. */
  ask(route: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends `POST /responses`, which must succeed. */
  respond(body: WireItem): Promise<WireItem>;
  /** Sends a streaming `POST /responses` and reads the whole stream. */
  stream(body: WireItem): Promise<readonly (WireItem & { readonly type: string })[]>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: WireItem;
}

/** Starts a provider that is disposed when the test ends. By default its code is not isolated. */
export async function startProviderFixture(
  script: ModelScript,
  options: LocalProviderOptions = {},
): Promise<ProviderFixture> {
  const provider = new LocalProvider({
    model: scriptedModel(script),
    sandbox: hostSandbox(),
    ...options,
  });
  const { url } = await provider.listen();
  const { fetch, problems } = createCheckedFetch(globalThis.fetch);
  onTestFinished(async () => {
    try {
      expect(await problems()).toEqual([]);
    } finally {
      await provider[Symbol.asyncDispose]();
    }
  });
  return { provider, url, fetch, ...createRequester(fetch, url) };
}

/** Creates the same request helpers over any `fetch`. */
export function createRequester(fetch: typeof globalThis.fetch, url: string) {
  const ask: ProviderFixture["ask"] = async (route, body, headers = {}) => {
    const [method = "", path = ""] = route.split(" ");
    const response = await fetch(url + path, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: response.headers.get("content-type")?.startsWith("application/json")
        ? JSON.parse(text)
        : { text },
    };
  };
  return {
    ask,
    async respond(body: WireItem) {
      const answer = await ask("POST /responses", { model: "any", ...body });
      expect(answer).toMatchObject({ status: 200 });
      return answer.body;
    },
    async stream(body: WireItem) {
      const whole = { model: "any", stream: true, ...body };
      const { status, body: answer } = await ask("POST /responses", whole);
      expect(status).toBe(200);
      return parseEvents(String(answer["text"]));
    },
  };
}

/** Returns a response's output items. */
export function readOutput(response: WireItem): readonly WireItem[] {
  return response["output"] as readonly WireItem[];
}

/** Returns the whole text of the model's messages. */
export function readAnswer(response: WireItem): string {
  return readOutput(response)
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .map((part: WireItem) => String(part["text"] ?? part["refusal"] ?? ""))
    .join("");
}

/** Returns the first item with this type, which must exist. */
export function findItem(response: WireItem, type: string): WireItem {
  const item = readOutput(response).find((one) => one["type"] === type);
  if (!item) throw new Error(`There is no ${type}`);
  return item;
}

/** Returns the annotations of the model's message. */
export function readAnnotations(response: WireItem): readonly WireItem[] {
  const [part] = findItem(response, "message")["content"] as readonly WireItem[];
  return (part?.["annotations"] ?? []) as readonly WireItem[];
}

/** Creates a folder with these files, deleted when the test ends. */
export function createFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-pages-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Creates a vector store that has indexed these files. */
export async function createVectorStore(
  { ask, fetch, url }: Pick<ProviderFixture, "ask" | "fetch" | "url">,
  files: Readonly<Record<string, { readonly text: string; readonly attributes?: object }>>,
): Promise<{ readonly id: string; readonly fileIds: readonly string[] }> {
  const { body: store } = await ask("POST /vector_stores", { name: "Birds" });
  const id = String(store["id"]);
  const fileIds: string[] = [];
  for (const [name, { text, attributes = {} }] of Object.entries(files)) {
    const form = new FormData();
    form.set("purpose", "assistants");
    form.set("file", new File([text], name));
    const uploaded = await fetch(`${url}/files`, { method: "POST", body: form });
    const { id: fileId } = (await uploaded.json()) as { readonly id: string };
    fileIds.push(fileId);
    await ask(`POST /vector_stores/${id}/files`, { file_id: fileId, attributes });
  }
  const isDone = async () => {
    const { body } = await ask(`GET /vector_stores/${id}`);
    return body["status"] === "completed";
  };
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 10));
  return { id, fileIds };
}
