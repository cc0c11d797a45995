import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";

/** A server that runs as a child process and is reached over its standard input and output. */
export interface McpStdioServer {
  /** Program to start. It runs without a shell. */
  readonly command: string;
  /** Arguments of the program. @default none */
  readonly args?: readonly string[] | undefined;
  /**
   * Environment variables, in addition to `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`. Other variables of
   * this process are not passed on. @default none
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Working directory of the program. @default the working directory of this process */
  readonly cwd?: string | undefined;
}

/** Provides the token of each request, like `AuthProvider` of `@modelcontextprotocol/client`. */
export interface McpTokenProvider {
  /** Returns the bearer token, or `undefined` without one. */
  token(): Promise<string | undefined>;
}

/** An `OAuthClientProvider` of `@modelcontextprotocol/client`. That package's type has all of its members. */
export interface McpOAuthProvider {
  /** Describes your program to the authorization server. */
  readonly clientMetadata: object;
  /** Returns the stored tokens. */
  tokens(...args: never): unknown;
}

/** A `Client` of `@modelcontextprotocol/client`. That package's type has all of its members. */
export interface McpClient {
  /** The connection; `undefined` before `connect`. */
  readonly transport: object | undefined;
  /** Calls a tool. */
  callTool(...args: never): Promise<unknown>;
  /** Lists the tools. */
  listTools(...args: never): Promise<unknown>;
}

/** A server that is reached over streamable HTTP. */
export interface McpHttpServer {
  /** URL of the server's endpoint. */
  readonly url: string | URL;
  /** Headers of every request, such as `Authorization`. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: ((url: string | URL, init?: RequestInit) => Promise<Response>) | undefined;
  /** Provides tokens: `{ token: async () => … }`, or an OAuth provider of the MCP client. @default none */
  readonly authProvider?: McpTokenProvider | McpOAuthProvider | undefined;
}

/** A server that a connected client of `@modelcontextprotocol/client` reaches. The client stays open. */
export interface McpConnectedServer {
  /** The client. Connect it before the evaluation, and close it afterwards. */
  readonly client: McpClient;
}

/** An MCP server: a program to start, a URL, or a client that is already connected. */
export type McpServer = McpStdioServer | McpHttpServer | McpConnectedServer;

const stdioKeys: KnownKeys<McpStdioServer> = { args: true, command: true, cwd: true, env: true };
const httpKeys: KnownKeys<McpHttpServer> = {
  authProvider: true,
  fetch: true,
  headers: true,
  url: true,
};
const clientKeys: KnownKeys<McpConnectedServer> = { client: true };

/** Checks a server's options and copies them. */
export function checkMcpServer(server: McpServer, field: string): McpServer {
  const refuse = PromptValidationError.at(field);
  if (typeof server !== "object" || server === null) throw refuse("", server, RULE, REMEDY);
  if ("command" in server) return checkStdioServer(server, field);
  if ("url" in server) return checkHttpServer(server, field);
  if (!("client" in server)) throw refuse("", Object.keys(server), RULE, REMEDY);
  checkKnownKeys(server, field, clientKeys, PromptValidationError);
  if (typeof server.client?.callTool === "function") return Object.freeze({ ...server });
  const remedy = "pass a connected Client of @modelcontextprotocol/client";
  throw refuse("client", server.client, "must be an MCP client", remedy);
}

const RULE = "must have command, url or client";
const REMEDY = 'use { command: "npx", args: [ … ] }, { url } or { client }';

function checkStdioServer(server: McpStdioServer, field: string): McpServer {
  checkKnownKeys(server, field, stdioKeys, PromptValidationError);
  const refuse = PromptValidationError.at(field);
  const { command, args = [], env = {}, cwd } = server;
  if (typeof command !== "string" || command === "") {
    throw refuse("command", command, "must be the name or path of a program", 'use "npx"');
  }
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string")) {
    const rule = "must be an array of strings";
    throw refuse("args", args, rule, "use one string per argument", { secret: true });
  }
  const given = { command, args: Object.freeze([...args]), env: copyTexts(env, field, "env") };
  return Object.freeze(cwd === undefined ? given : { ...given, cwd });
}

function checkHttpServer(server: McpHttpServer, field: string): McpServer {
  checkKnownKeys(server, field, httpKeys, PromptValidationError);
  const { url, headers = {} } = server;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    const refuse = PromptValidationError.at(field);
    throw refuse("url", url, "must be an http or https URL", "use the URL of the endpoint", {
      secret: true,
    });
  }
  return Object.freeze({ ...server, headers: copyTexts(headers, field, "headers") });
}

function copyTexts(
  texts: Readonly<Record<string, string>>,
  field: string,
  name: string,
): Readonly<Record<string, string>> {
  const wrong = Object.entries(Object(texts)).find(([, value]) => typeof value !== "string");
  if (!wrong) return Object.freeze({ ...texts });
  throw new PromptValidationError({
    field: `${field}.${name}.${wrong[0]}`,
    value: wrong[1],
    rule: "must be a string",
    remedy: "omit it, or pass its value as text",
    secret: true,
  });
}

/** Names a server in messages, without its arguments, path and headers, which may contain secrets. */
export function describeMcpServer(server: McpServer): string {
  if ("command" in server) return `"${server.command}"`;
  if ("url" in server) return `"${new URL(server.url).origin}"`;
  return "of the client";
}

/** Lists the values that messages must not show. */
export function listMcpSecrets(server: McpServer): readonly string[] {
  if ("command" in server) return Object.values(server.env ?? {});
  if ("url" in server) return Object.values(server.headers ?? {});
  return [];
}
