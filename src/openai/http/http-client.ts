import { type Clock, systemClock } from "../../base/clock.ts";
import { SECRETS } from "../secrets.ts";
import type { CallOptions, NewFile, OpenAIClient } from "./client.ts";
import { type ClientSettings, clientSettings, type OpenAIClientConfig } from "./client-config.ts";
import { Http, pathPart, type SendOptions } from "./http.ts";
import { type Posted, withRequestId } from "./result.ts";
import type { Multipart } from "./transport.ts";

/** A thin client of OpenAI's API: one request a call, no retries, errors that say what to do. */
export function openAIClient(config: OpenAIClientConfig = {}): OpenAIClient {
  return new HttpClient(config);
}

/** Our own client, which takes a request's text as well: history is then written only once. */
export class HttpClient implements OpenAIClient {
  readonly #settings: ClientSettings;
  readonly #http: Http;
  readonly responses: OpenAIClient["responses"];
  readonly containers: OpenAIClient["containers"];
  readonly files: OpenAIClient["files"];

  constructor(config: OpenAIClientConfig = {}, { clock = systemClock }: { clock?: Clock } = {}) {
    this.#settings = clientSettings(config);
    this.#http = new Http(this.#settings, clock);
    this.responses = Object.freeze({
      create: async (body: object, options?: CallOptions) =>
        withRequestId(await this.post("/responses", JSON.stringify(body), options)),
      compact: async (body: object, options?: CallOptions) =>
        withRequestId(await this.post("/responses/compact", JSON.stringify(body), options)),
      inputTokens: Object.freeze({
        count: async (body: object, options?: CallOptions) =>
          withRequestId(await this.post("/responses/input_tokens", JSON.stringify(body), options)),
      }),
    });
    this.containers = containersOver(this.#http);
    this.files = this.#files();
    Object.freeze(this);
  }

  [SECRETS](): readonly string[] {
    return this.#settings.secrets;
  }

  /** Sends JSON that is already text. */
  async post(path: string, body: string | Uint8Array, options?: CallOptions): Promise<Posted> {
    return await this.#http.post(path, body, options);
  }

  #files(): OpenAIClient["files"] {
    return Object.freeze({
      create: async (file: NewFile, options?: CallOptions) => {
        const call = { method: "POST", path: "/files", body: formOf(file) } as const;
        return withRequestId(await this.#http.json(call, options));
      },
      content: async (fileId: string, options?: CallOptions) =>
        await this.#http.binary(`/files/${pathPart(fileId, "fileId")}/content`, options),
    });
  }
}

function formOf({ file, purpose, expires_after: expiry }: NewFile): Multipart {
  const expires: Multipart = expiry
    ? [
        ["expires_after[anchor]", expiry.anchor],
        ["expires_after[seconds]", String(expiry.seconds)],
      ]
    : [];
  return [["purpose", purpose], ...expires, ["file", file]];
}

/** Containers over our own HTTP, in the official client's form. */
function containersOver(http: Http) {
  return Object.freeze({
    create: async (body: object, options?: SendOptions) =>
      withRequestId(await http.post("/containers", JSON.stringify(body), options)),
    retrieve: async (containerId: string, options?: SendOptions) =>
      withRequestId(await http.json({ method: "GET", path: containerPath(containerId) }, options)),
    delete: async (containerId: string, options?: SendOptions) =>
      await http.delete(containerPath(containerId), options),
    files: filesOver(http),
  });
}

function filesOver(http: Http) {
  return Object.freeze({
    create: async (containerId: string, { file }: { file: File }, options?: SendOptions) => {
      const call = {
        method: "POST",
        path: filesPath(containerId),
        body: [["file", file]],
      } as const;
      return withRequestId(await http.json(call, options));
    },
    list: async (containerId: string, query: object, options?: SendOptions) => {
      const call = { method: "GET", path: filesPath(containerId), query: textsIn(query) } as const;
      return withRequestId(await http.json(call, options));
    },
    delete: async (fileId: string, { container_id }: InContainer, options?: SendOptions) =>
      await http.delete(filePath(container_id, fileId), options),
    content: Object.freeze({
      retrieve: async (fileId: string, { container_id }: InContainer, options?: SendOptions) =>
        await http.binary(`${filePath(container_id, fileId)}/content`, options),
    }),
  });
}

interface InContainer {
  readonly container_id: string;
}

function containerPath(containerId: string): string {
  return `/containers/${pathPart(containerId, "containerId")}`;
}

function filesPath(containerId: string): string {
  return `${containerPath(containerId)}/files`;
}

function filePath(containerId: string, fileId: string): string {
  return `${filesPath(containerId)}/${pathPart(fileId, "fileId")}`;
}

function textsIn(query: object): Record<string, string> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
