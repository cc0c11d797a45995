import { raceAbort } from "../base/clock.ts";
import { WinkError } from "../base/errors.ts";
import { emitWarning } from "../base/warn.ts";
import type { Tool } from "../tools/tool.ts";
import { createMcpTool, type McpToolSource } from "./create-mcp-tool.ts";
import { McpConnection } from "./mcp-connection.ts";
import { describeMcpServer } from "./mcp-server.ts";
import type { McpToolsSettings } from "./mcp-tools-section-options.ts";
import { type SelectedTool, type SelectedTools, selectTools } from "./select-tools.ts";

/** The connection to a server and the tools that it lists, shared by all evaluations that use a section. */
export class McpToolList implements McpToolSource {
  /** The server, for messages. */
  readonly server: string;
  readonly #settings: McpToolsSettings;
  /** Names that other tools of a running evaluation have. */
  readonly #hidden = new Set<string>();
  #connection: McpConnection | null = null;
  #selected: SelectedTools | null = null;
  #tools: readonly Tool[] = [];
  /** The list that is being loaded, for all evaluations that wait for it. */
  #loading: Promise<void> | null = null;
  #isStale = true;
  #revision: object = {};
  #aborter = new AbortController();

  constructor(settings: McpToolsSettings) {
    this.#settings = settings;
    this.server = describeMcpServer(settings.server);
  }

  get title(): string {
    return `The MCP server ${this.server}`;
  }

  get connection(): McpConnection | null {
    return this.#connection;
  }

  /** The tools that were listed last; `null` before the first list. */
  get selected(): SelectedTools | null {
    return this.#selected;
  }

  /** The tools for the prompt, without hidden ones. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Changes when the server's tools or the connection change. */
  get revision(): unknown {
    return this.#revision;
  }

  findTool(name: string): SelectedTool | undefined {
    return this.#selected?.tools.find((tool) => tool.name === name);
  }

  markChanged(): void {
    this.#isStale = true;
    this.#revision = {};
  }

  /** Leaves tools out until the list is closed. */
  hide(names: readonly string[]): void {
    for (const name of names) this.#hidden.add(name);
    this.#tools = Object.freeze(this.#tools.filter(({ name }) => !this.#hidden.has(name)));
  }

  /** Connects and lists the tools, unless both are done and still valid. If it fails, the last tools stay. */
  async load(signal: AbortSignal): Promise<void> {
    if (this.#aborter.signal.aborted) this.#aborter = new AbortController();
    if (!this.#loading && !this.#isStale && !this.#connection?.isClosed) return;
    await raceAbort(this.#loading ?? this.#startLoading(), signal);
  }

  /** Closes the connection and forgets the tools. Running calls fail. */
  async close(): Promise<void> {
    const [connection, loading] = [this.#connection, this.#loading];
    this.#connection = null;
    this.#loading = null;
    this.#selected = null;
    this.#tools = [];
    this.#hidden.clear();
    this.markChanged();
    this.#aborter.abort(new WinkError("The section was closed."));
    await loading?.catch(() => {});
    await connection?.close();
  }

  #startLoading(): Promise<void> {
    const loading = this.#load(this.#aborter.signal);
    this.#loading = loading;
    const clearLoading = () => {
      if (this.#loading === loading) this.#loading = null;
    };
    loading.then(clearLoading, clearLoading);
    return loading;
  }

  async #load(signal: AbortSignal): Promise<void> {
    // A change that the server reports from here on makes the list stale again.
    this.#isStale = false;
    try {
      const connection = await this.#connect(signal);
      const listed = await connection.list(signal);
      signal.throwIfAborted();
      const isFirst = this.#selected === null;
      const { include = null, exclude, prefix } = this.#settings;
      const selection = { include, exclude, prefix, server: this.server };
      const selected = selectTools(listed, selection, { isFirst });
      if (isFirst) this.#warnAboutExclude(new Set(listed.map(({ name }) => name)));
      this.#selected = selected;
      const shown = selected.tools.filter(({ name }) => !this.#hidden.has(name));
      this.#tools = Object.freeze(shown.map((tool) => createMcpTool(tool, this, this.#settings)));
    } catch (error) {
      if (!signal.aborted) this.#isStale = true;
      throw error;
    }
  }

  /** Returns the connection, or opens a new one if there is none. */
  async #connect(signal: AbortSignal): Promise<McpConnection> {
    const last = this.#connection;
    if (last && !last.isClosed) return last;
    await last?.close();
    this.#connection = null;
    const { server, timeoutMs } = this.#settings;
    const onListChanged = () => {
      if (!signal.aborted) this.markChanged();
    };
    const opened = await McpConnection.open(server, { timeoutMs, onListChanged }, signal);
    if (signal.aborted) await opened.close();
    signal.throwIfAborted();
    this.#connection = opened;
    return opened;
  }

  #warnAboutExclude(listed: ReadonlySet<string>): void {
    const missing = this.#settings.exclude.filter((name) => !listed.has(name));
    if (missing.length === 0) return;
    const names = missing.map((name) => `"${name}"`).join(", ");
    emitWarning(`${this.title} has no tool ${names}, which exclude names. Check the spelling.`);
  }
}
