import type {
  CallToolResult,
  Client,
  Tool as ListedTool,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { raceAbort } from "../base/clock.ts";
import { getErrorMessage, WinkError } from "../base/errors.ts";
import { redactText } from "../base/redact.ts";
import { VERSION } from "../base/version.ts";
import { cutText } from "./clean-text.ts";
import { limitResponse } from "./limit-response.ts";
import { loadMcpClient, type McpClientModule } from "./load-mcp-client.ts";
import { MCP_LIMITS } from "./mcp-limits.ts";
import {
  describeMcpServer,
  listMcpSecrets,
  type McpHttpServer,
  type McpServer,
} from "./mcp-server.ts";
import { StdioTransport } from "./stdio-transport.ts";

export type { ListedTool };

/** Settings of a connection. */
export interface McpConnectionOptions {
  /** Longest time for connecting and for listing the tools, each, in milliseconds. */
  readonly timeoutMs: number;
  /** Called when the server says that its tools have changed. */
  onListChanged(): void;
}

/** A connection to an MCP server. */
export class McpConnection {
  readonly #client: Client;
  readonly #server: McpServer;
  readonly #transport: StdioTransport | StreamableHTTPClientTransport | null;
  readonly #timeoutMs: number;
  #isClosed = false;
  /** Why the connection was ended from this side. */
  #end = "";
  #detach: () => void = () => {};

  private constructor(
    server: McpServer,
    client: Client,
    transport: StdioTransport | StreamableHTTPClientTransport | null,
    { timeoutMs }: McpConnectionOptions,
  ) {
    this.#server = server;
    this.#client = client;
    this.#transport = transport;
    this.#timeoutMs = timeoutMs;
  }

  /** Connects to the server. Rejects when `signal` aborts or the time is over; nothing is left running then. */
  static async open(
    server: McpServer,
    options: McpConnectionOptions,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    if ("client" in server) return McpConnection.#attach(server.client, server, options);
    const loaded = await loadMcpClient();
    const onExceeded = (problem: string) => {
      connection.#end = problem;
      void client.close().catch(() => {}); // otherwise the call would wait for the rest
    };
    const transport =
      "command" in server
        ? new StdioTransport(server, loaded)
        : createHttpTransport(server, loaded, onExceeded);
    const client = createClient(loaded, server, options);
    const connection = new McpConnection(server, client, transport, options);
    client.onclose = () => {
      connection.#isClosed = true;
      options.onListChanged();
    };
    const { timeoutMs: timeout } = options;
    try {
      await connection.#withTimeout(
        (limited) => client.connect(transport, { signal: limited, timeout }),
        signal,
      );
    } catch (cause) {
      await transport.close().catch(() => {});
      signal.throwIfAborted();
      throw connection.explain("could not be connected", cause);
    }
    return connection;
  }

  /** Uses the caller's client. Its other notifications stay with the caller's handlers. */
  static #attach(client: Client, server: McpServer, options: McpConnectionOptions): McpConnection {
    if (client.transport === undefined) {
      throw new WinkError(
        "The MCP client is not connected. Await client.connect(transport) first.",
      );
    }
    const connection = new McpConnection(server, client, null, options);
    const before = client.fallbackNotificationHandler;
    const listen: NonNullable<typeof before> = async (notification) => {
      if (notification.method === "notifications/tools/list_changed") options.onListChanged();
      await before?.(notification);
    };
    client.fallbackNotificationHandler = listen;
    connection.#detach = () => {
      if (client.fallbackNotificationHandler !== listen) return;
      if (before) client.fallbackNotificationHandler = before;
      else delete client.fallbackNotificationHandler;
    };
    return connection;
  }

  /** Whether the server has ended the connection. */
  get isClosed(): boolean {
    return this.#isClosed || this.#client.transport === undefined;
  }

  /** Lists the server's tools. Rejects if there are too many pages, or they take too long. */
  async list(signal: AbortSignal): Promise<readonly ListedTool[]> {
    if (!this.#client.getServerCapabilities()?.tools) return [];
    const timeout = this.#timeoutMs;
    try {
      const { tools } = await this.#withTimeout(
        (limited) =>
          this.#client.listTools(undefined, { signal: limited, timeout, cacheMode: "refresh" }),
        signal,
      );
      return tools;
    } catch (cause) {
      signal.throwIfAborted();
      throw this.explain("could not list its tools", cause);
    }
  }

  /** Calls a tool. If `signal` aborts or the time is over, the server is told that the call is canceled. */
  async call(
    tool: ListedTool,
    params: Readonly<Record<string, unknown>>,
    { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<CallToolResult> {
    try {
      const call = { name: tool.name, arguments: { ...params } };
      const options = { signal, timeout: timeoutMs, toolDefinition: withoutOutputSchema(tool) };
      return await this.#client.callTool(call, options);
    } catch (cause) {
      signal.throwIfAborted();
      if (isSessionLost(cause)) this.#isClosed = true;
      throw this.explain(`failed to run the tool "${tool.name}"`, cause);
    }
  }

  /** Closes the connection and ends a process that was started for it. The caller's client stays open. */
  async close(): Promise<void> {
    this.#detach();
    this.#isClosed = true;
    const transport = this.#transport;
    if (transport === null) return;
    if (!(transport instanceof StdioTransport)) {
      const ended = transport.terminateSession().catch(() => {});
      await raceAbort(ended, AbortSignal.timeout(CLOSE_MS)).catch(() => {});
    }
    await this.#client.close().catch(() => {});
    await transport.close().catch(() => {});
  }

  /** Creates an error that names the server and has the end of its error output. Shows no secret. */
  explain(problem: string, cause: unknown): WinkError {
    const secrets = listMcpSecrets(this.#server);
    const why = cutText(redactText(getErrorMessage(cause), secrets), MCP_LIMITS.errorChars);
    const end =
      this.#transport instanceof StdioTransport ? this.#transport.describeEnd() : this.#end;
    const output = redactText(cutText(end, MCP_LIMITS.stderrChars + 100), secrets);
    const remedy = isUnauthorized(cause) ? "Pass a token in headers, or an authProvider." : "";
    const server = `The MCP server ${describeMcpServer(this.#server)}`;
    const sentence = `${server} ${problem}: ${why.replace(/[.\s]*$/, ".")}`;
    const message = [sentence, output, remedy].filter((part) => part !== "").join(" ");
    return new WinkError(message, { cause });
  }

  /** Runs `work` until the time is over. */
  async #withTimeout<Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const both = AbortSignal.any([signal, timeout]);
    try {
      return await raceAbort(work(both), both);
    } catch (cause) {
      if (!timeout.aborted || signal.aborted) throw cause;
      throw new WinkError(
        `it did not answer within ${this.#timeoutMs} ms. Raise timeoutMs if it needs longer.`,
        { cause },
      );
    }
  }
}

/** How long the end of an HTTP session may take. */
const CLOSE_MS = 1_000;

function createClient(
  { Client }: McpClientModule,
  server: McpServer,
  { onListChanged }: McpConnectionOptions,
): Client {
  return new Client(
    { name: "weakincentives", version: VERSION },
    {
      capabilities: {},
      listMaxPages: MCP_LIMITS.pages,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onListChanged } },
      // A program may exit when it receives an unknown request, so the version is negotiated only with URLs.
      versionNegotiation: { mode: "url" in server ? "auto" : "legacy" },
    },
  );
}

function createHttpTransport(
  { url, headers = {}, fetch = globalThis.fetch, authProvider }: McpHttpServer,
  { StreamableHTTPClientTransport }: McpClientModule,
  onExceeded: (problem: string) => void,
): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: async (input, init) =>
      limitResponse(await fetch(input, init), MCP_LIMITS.messageBytes, onExceeded),
    requestInit: { headers },
    ...(authProvider === undefined ? {} : { authProvider }),
  });
}

/** The client would compile the schema of the result, which a server could make slow. */
function withoutOutputSchema({ outputSchema: _schema, ...tool }: ListedTool): ListedTool {
  return tool;
}

function isUnauthorized(cause: unknown): boolean {
  return readName(cause) === "UnauthorizedError" || readStatus(cause) === 401;
}

/** Servers answer 404 to requests of a session that they have forgotten. */
function isSessionLost(cause: unknown): boolean {
  return readStatus(cause) === 404;
}

function readStatus(cause: unknown): unknown {
  return cause instanceof Error && "status" in cause ? cause.status : undefined;
}

function readName(cause: unknown): string {
  return cause instanceof Error ? cause.constructor.name : "";
}
