import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getErrorMessage, InvalidOptionError } from "../base/errors.ts";
import { AccessPolicy } from "../local/access/access-policy.ts";
import { compareKeys } from "../local/http/compare-keys.ts";
import { describeDiff } from "./describe-diff.ts";
import { EventChannel } from "./event-channel.ts";
import type { FollowedSession } from "./followed-session.ts";
import type { InspectorSource } from "./inspector-source.ts";
import { type InspectorPage, loadPage } from "./load-page.ts";
import { SessionCache } from "./session-cache.ts";

/** Options of {@link startInspector}. */
export interface InspectorOptions {
  /** The port on `127.0.0.1`; 0 picks any free one. @default 0 */
  readonly port?: number | undefined;
}

/** A running inspector. */
export interface RunningInspector extends AsyncDisposable {
  /** The URL of the page, with its token. */
  readonly url: string;
}

/**
 * Serves the inspector's page on `127.0.0.1` until it is disposed, together with its source. Only programs of this machine
 * reach it, and only with the token in its URL: requests of other web pages, and of names that only resolve to this
 * machine, are refused. It only reads.
 */
export async function startInspector(
  source: InspectorSource,
  { port = 0 }: InspectorOptions = {},
): Promise<RunningInspector> {
  const inspector = new InspectorServer(source, await loadPage());
  const address = await inspector.listen(port);
  return {
    url: `http://127.0.0.1:${address.port}/${inspector.token}/`,
    async [Symbol.asyncDispose]() {
      await inspector.close();
      await source[Symbol.asyncDispose]();
    },
  };
}

type Query = (name: string) => string;

class InspectorServer {
  readonly token = randomBytes(18).toString("base64url");
  readonly #source: InspectorSource;
  readonly #page: InspectorPage;
  readonly #sessions: SessionCache;
  readonly #access = new AccessPolicy({ allowedHosts: [], allowedOrigins: [] });
  readonly #server: Server;

  constructor(source: InspectorSource, page: InspectorPage) {
    this.#source = source;
    this.#page = page;
    this.#sessions = new SessionCache(source);
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else sendJson(response, 500, { error: getErrorMessage(error) });
      });
    });
  }

  async listen(port: number): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (cause) => reject(createPortError(port, cause)));
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    return this.#server.address() as AddressInfo;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#sessions.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (this.#access.check(request)) return sendJson(response, 403, REFUSED);
    const url = URL.parse(request.url ?? "/", "http://127.0.0.1");
    const [, token = "", name = "", ...rest] = url?.pathname.split("/") ?? [];
    if (!url || !compareKeys(token, this.token) || rest.length > 0) {
      return sendJson(response, 404, MISSING);
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      return sendJson(response, 405, { error: "Only GET is allowed: the inspector only reads." });
    }
    await this.#route(name, (key) => url.searchParams.get(key) ?? "", response);
  }

  async #route(name: string, query: Query, response: ServerResponse): Promise<void> {
    if (name === "") return this.#sendPage(response);
    if (name === "sessions") return sendJson(response, 200, await this.#list());
    const id = query("id");
    const session = id === "" ? null : await this.#sessions.get(id);
    if (!session) return sendJson(response, 404, { error: "The session does not exist." });
    if (name === "session") return follow(session, response);
    const answer = await answerAbout(session, name, query);
    if (answer === null) return sendJson(response, 404, { error: "The entry does not exist." });
    sendJson(response, 200, answer);
  }

  async #list(): Promise<object> {
    return { ...(await this.#source.list()), onlySession: this.#source.onlySession };
  }

  #sendPage(response: ServerResponse): void {
    const { html, policy } = this.#page;
    response.setHeader("content-security-policy", policy);
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(html);
  }
}

/** Answers one question about a session; `null` if it has no answer. */
async function answerAbout(
  session: FollowedSession,
  name: string,
  query: Query,
): Promise<object | null> {
  if (name === "summary") return await session.load();
  if (name === "entry") return await session.getDetail(query("key"));
  if (name === "search") return { keys: await session.search(query("q")) };
  if (name !== "diff") return null;
  const file = session.findFile(query("key"), query("path"));
  return file ? await describeDiff(session, file) : null;
}

function follow(session: FollowedSession, response: ServerResponse): void {
  response.setHeader("content-type", "text/event-stream");
  response.flushHeaders();
  const channel = new EventChannel(response);
  const following = session.follow(channel);
  response.once("close", () => {
    following[Symbol.dispose]();
    channel[Symbol.dispose]();
  });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}

const REFUSED = {
  error:
    "Only pages and programs of this machine may use the inspector. Open the URL that wink inspect printed.",
};
const MISSING = { error: "Not found. Open the whole URL that wink inspect printed." };

/** No other site may embed, read or learn the address of anything here. */
const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

function createPortError(port: number, cause: Error): InvalidOptionError {
  return new InvalidOptionError({
    field: "--port",
    value: port,
    rule: `must be free to listen on (${cause.message})`,
    remedy: "omit it for any free port",
    cause,
  });
}
