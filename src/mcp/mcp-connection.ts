import type { CallToolResult, Client, Tool as ListedTool } from "@modelcontextprotocol/client";
import { raceAbort } from "../base/clock.ts";
import { WinkError } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import { loadMcpClient, type McpClientModule } from "./load-mcp-client.ts";
import { createMcpError, isSessionLost } from "./mcp-failure.ts";
import { MCP_LIMITS } from "./mcp-limits.ts";
import type { McpServer } from "./mcp-server.ts";
import { createMcpTransport, endMcpSession, type McpTransport } from "./mcp-transport.ts";
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
  readonly #transport: McpTransport | null;
  readonly #timeoutMs: number;
  #isClosed = false;
  /** Why the connection was ended from this side. */
  #end = "";
  #detach: () => void = () => {};

  private constructor(
    server: McpServer,
    client: Client,
    transport: McpTransport | null,
    { timeoutMs }: McpConnectionOptions,
  ) {
    this.#server = server;
    this.#client = client;
    this.#transport = transport;
    this.#timeoutMs = timeoutMs;
  }

  /** Connects to the server. Rejects when `signal` aborts or time runs out; nothing is left running then. */
  static async open(
    server: McpServer,
    options: McpConnectionOptions,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    if ("client" in server) return McpConnection.#attach(server.client as Client, server, options);
    const loaded = await loadMcpClient();
    const onExceeded = (problem: string) => {
      connection.#end = problem;
      void Promise.allSettled([client.close()]); // otherwise the call would wait for the rest
    };
    const transport = createMcpTransport(server, loaded, onExceeded);
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
      await Promise.allSettled([transport.close()]);
      signal.throwIfAborted();
      throw connection.#createError("could not be connected", cause);
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
      throw this.#createError("could not list its tools", cause);
    }
  }

  /** Calls a tool. The server receives a cancellation if `signal` aborts or time runs out. */
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
      throw this.#createError(`failed to run the tool "${tool.name}"`, cause);
    }
  }

  /** Closes the connection and ends a process that was started for it. The caller's client stays open. */
  async close(): Promise<void> {
    this.#detach();
    this.#isClosed = true;
    const transport = this.#transport;
    if (transport === null) return;
    await endMcpSession(transport);
    await Promise.allSettled([this.#client.close()]);
    await Promise.allSettled([transport.close()]);
  }

  #createError(problem: string, cause: unknown): WinkError {
    const [server, transport] = [this.#server, this.#transport];
    const end = transport instanceof StdioTransport ? transport.describeEnd() : this.#end;
    return createMcpError({ server, problem, cause, end });
  }

  /** Aborts `work` when time runs out. */
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

/** The client would compile the schema of the result, which a server could make slow. */
function withoutOutputSchema({ outputSchema: _schema, ...tool }: ListedTool): ListedTool {
  return tool;
}
