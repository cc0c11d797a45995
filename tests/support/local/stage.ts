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
import { checkedFetch, eventsIn } from "./checked-fetch.ts";

/** A provider on a socket, for one test; all its answers are held against OpenAI's document. */
export interface Stage {
  readonly provider: LocalProvider;
  /** Ends in `/v1`. */
  readonly url: string;
  /** Over the socket, checked. */
  readonly fetch: typeof globalThis.fetch;
  /** Asks, and reads the answer whole. */
  ask(route: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** `POST /responses` that must be answered. */
  respond(body: WireItem): Promise<WireItem>;
  /** The same as a stream, read whole. */
  stream(body: WireItem): Promise<readonly (WireItem & { readonly type: string })[]>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: WireItem;
}

/** Starts one that is gone when the test is over. Unless told otherwise its code is not isolated. */
export async function stage(
  script: ModelScript,
  options: LocalProviderOptions = {},
): Promise<Stage> {
  const provider = new LocalProvider({
    model: scriptedModel(script),
    sandbox: hostSandbox(),
    ...options,
  });
  const { url } = await provider.listen();
  const { fetch, problems } = checkedFetch(globalThis.fetch);
  onTestFinished(async () => {
    try {
      expect(await problems()).toEqual([]);
    } finally {
      await provider[Symbol.asyncDispose]();
    }
  });
  return { provider, url, fetch, ...asking(fetch, url) };
}

/** The same ways to ask, over any `fetch`. */
export function asking(fetch: typeof globalThis.fetch, url: string) {
  const ask: Stage["ask"] = async (route, body, headers = {}) => {
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
      return eventsIn(String(answer["text"]));
    },
  };
}

/** The items of a response. */
export function output(response: WireItem): readonly WireItem[] {
  return response["output"] as readonly WireItem[];
}

/** What the model said, all of it. */
export function said(response: WireItem): string {
  return output(response)
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .map((part: WireItem) => String(part["text"] ?? part["refusal"] ?? ""))
    .join("");
}

/** The first item of a type; it must be there. */
export function itemOf(response: WireItem, type: string): WireItem {
  const item = output(response).find((one) => one["type"] === type);
  if (!item) throw new Error(`There is no ${type}`);
  return item;
}

/** What the model's message cites. */
export function annotations(response: WireItem): readonly WireItem[] {
  const [part] = itemOf(response, "message")["content"] as readonly WireItem[];
  return (part?.["annotations"] ?? []) as readonly WireItem[];
}

/** A folder with these files, gone when the test is over. */
export function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-pages-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** A vector store that has read these files. */
export async function vectorStoreOf(
  { ask, fetch, url }: Pick<Stage, "ask" | "fetch" | "url">,
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
