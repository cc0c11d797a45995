import { raceAbort } from "../base/clock.ts";
import {
  checkKnownKeys,
  getErrorMessage,
  type KnownKeys,
  PromptValidationError,
  WinkError,
} from "../base/errors.ts";
import type { UnknownRecord } from "../base/json.ts";
import { validate } from "../base/schema/schema.ts";
import { emitWarning } from "../base/warn.ts";
import { type PrepareContext, Section } from "../prompt/section.ts";
import type { ToolPolicy } from "../tools/policy.ts";
import { checkEffects, checkNeedsApproval, Tool } from "../tools/tool.ts";
import type { NeedsApproval, ToolContext, ToolEffects } from "../tools/tool-context.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { McpConnection } from "./mcp-connection.ts";
import { checkMcpServer, describeMcpServer, type McpServer } from "./mcp-server.ts";
import {
  type OmittedTool,
  type SelectedTool,
  type SelectedTools,
  selectTools,
  type ToolSelection,
} from "./select-tools.ts";
import { toToolResult } from "./to-tool-result.ts";

/** Options of {@link McpToolsSection}. */
export interface McpToolsSectionOptions {
  /** The server: a program to start, a URL, or a connected client. */
  readonly server: McpServer;
  /**
   * Names of the tools to offer, as the server lists them. A name that the server does not list ends the evaluation.
   * @default all tools
   */
  readonly include?: readonly string[] | undefined;
  /** Names of the tools to leave out, as the server lists them. @default none */
  readonly exclude?: readonly string[] | undefined;
  /** Text put before each name as it is, such as `"github_"`. @default "" */
  readonly prefix?: string | undefined;
  /**
   * Whether a call that a crash interrupted may run again when the evaluation is resumed.
   * @default "none" for tools that the server declares read-only, otherwise "once"
   */
  readonly effects?: ToolEffects | undefined;
  /** Whether a call waits for approval; a function decides for each call. @default false */
  readonly needsApproval?: NeedsApproval<UnknownRecord> | undefined;
  /** Checked before each call. @default none */
  readonly policies?: readonly ToolPolicy[] | undefined;
  /** Longest time for connecting and for listing the tools, each, in milliseconds. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Longest time for one call, in milliseconds. The evaluation's deadline ends a call earlier. @default 300000
   */
  readonly callTimeoutMs?: number | undefined;
  /** Key of the section. @default "mcp" */
  readonly key?: string | undefined;
}

const keys: KnownKeys<McpToolsSectionOptions> = {
  callTimeoutMs: true,
  effects: true,
  exclude: true,
  include: true,
  key: true,
  needsApproval: true,
  policies: true,
  prefix: true,
  server: true,
  timeoutMs: true,
};

/**
 * A section with the tools of an MCP server. `evaluate` connects to the server and lists its tools before it renders
 * the prompt, lists them again before the next turn if the server says that they have changed, and closes the
 * connection when the evaluation ends. Evaluations that run at the same time share the connection. Needs the package
 * `@modelcontextprotocol/client`.
 *
 * @example
 * ```ts
 * import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
 * import { McpToolsSection } from "weakincentives/mcp";
 * import { OpenAIAdapter } from "weakincentives/openai";
 *
 * const files = new McpToolsSection({
 *   server: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "./notes"] },
 *   include: ["list_directory", "read_text_file"],
 * });
 * const task = new MarkdownSection({ key: "task", title: "Task", template: "Summarize the notes." });
 * const template = new PromptTemplate({ ns: "notes", key: "summary", sections: [task, files] });
 * const adapter = new OpenAIAdapter({ model: "gpt-5.2" });
 * const { text } = await adapter.evaluate(new Prompt(template), { session: new Session() });
 * ```
 */
export class McpToolsSection extends Section implements AsyncDisposable {
  readonly #options: McpToolsSectionOptions;
  readonly #selection: ToolSelection;
  /** The evaluations that use the section, each with the reports it has received. */
  readonly #holders = new Map<PrepareContext, Set<string>>();
  #connection: McpConnection | null = null;
  #selected: SelectedTools | null = null;
  #tools: readonly Tool[] = [];
  /** Tools that clash with a tool of a running evaluation. */
  readonly #hidden = new Set<string>();
  /** The list that is being loaded, for all evaluations that wait for it. */
  #loading: Promise<void> | null = null;
  #isStale = true;
  #revision: object = {};
  #aborter = new AbortController();

  constructor(options: McpToolsSectionOptions) {
    checkKnownKeys(options, "McpToolsSection", keys, PromptValidationError);
    const { key = "mcp", policies, include, exclude = [], prefix = "" } = options;
    super({ key, title: "MCP tools", policies });
    const server = checkMcpServer(options.server, "McpToolsSection.server");
    checkNames(include, "include");
    checkNames(exclude, "exclude");
    checkPrefix(prefix);
    checkMilliseconds(options.timeoutMs, "timeoutMs");
    checkMilliseconds(options.callTimeoutMs, "callTimeoutMs");
    checkEffects(options.effects, "McpToolsSection.effects");
    checkNeedsApproval(options.needsApproval, "McpToolsSection.needsApproval");
    this.#options = Object.freeze({ ...options, key, server });
    this.#selection = {
      include: include ? [...include] : null,
      exclude: [...exclude],
      prefix,
      server: describeMcpServer(server),
    };
  }

  /**
   * Connects to the server and lists its tools, unless another evaluation has done both. `evaluate` calls it. If it
   * is called again and fails, the tools that were listed last stay.
   */
  override async prepare(context: PrepareContext): Promise<void> {
    const isFirst = !this.#holders.has(context);
    const reports = this.#holders.get(context) ?? new Set();
    this.#holders.set(context, reports);
    if (this.#aborter.signal.aborted) this.#aborter = new AbortController();
    try {
      if (this.#loading || this.#isStale || this.#connection?.isClosed) {
        await raceAbort(this.#loading ?? this.#startLoading(), context.signal);
      }
      this.#checkClashes(context, isFirst);
    } catch (error) {
      context.signal.throwIfAborted();
      if (isFirst) throw error;
      this.#report(context, { type: "McpRefreshFailed", reason: getErrorMessage(error) });
    }
    for (const { tool, reason } of this.#selected?.omitted ?? []) {
      this.#report(context, { type: "McpToolOmitted", tool, reason });
    }
  }

  /** Closes the connection if no other evaluation uses it. `evaluate` calls it. */
  override async release(context: PrepareContext): Promise<void> {
    this.#holders.delete(context);
    if (this.#holders.size === 0) await this.close();
  }

  /**
   * Closes the connection. Calls that are running fail. A running evaluation connects again before its next turn.
   */
  async close(): Promise<void> {
    const [connection, loading] = [this.#connection, this.#loading];
    this.#connection = null;
    this.#loading = null;
    this.#selected = null;
    this.#tools = [];
    this.#hidden.clear();
    this.#markChanged();
    this.#aborter.abort(new WinkError("The section was closed."));
    await loading?.catch(() => {});
    await connection?.close();
  }

  /** Closes the connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Closes the connection. */
  override async cleanup(): Promise<void> {
    await this.close();
  }

  /** Changes when the server's tools or the connection change. */
  override get revision(): unknown {
    return this.#revision;
  }

  /** Returns `""`: the text of a server is only in the descriptions of its tools. Throws if it is not prepared. */
  override render(): string {
    if (this.#selected) return "";
    throw new WinkError(
      "The tools of the MCP server are not listed yet. Use evaluate, or await section.prepare({ session, signal }) first.",
    );
  }

  /** Returns the server's tools; none before the section is prepared. */
  override tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Returns a section for the same server with some options changed. It has its own connection. */
  override clone(options: Partial<McpToolsSectionOptions> = {}): this {
    return new McpToolsSection({ ...this.#options, ...options }) as this;
  }

  #markChanged(): void {
    this.#isStale = true;
    this.#revision = {};
  }

  #startLoading(): Promise<void> {
    const loading = this.#load();
    this.#loading = loading;
    const clearLoading = () => {
      if (this.#loading === loading) this.#loading = null;
    };
    loading.then(clearLoading, clearLoading);
    return loading;
  }

  /** Connects if necessary, and lists the tools. */
  async #load(): Promise<void> {
    const { signal } = this.#aborter;
    const { server, timeoutMs = 30_000 } = this.#options;
    // A change that the server reports from here on makes the list stale again.
    this.#isStale = false;
    try {
      if (this.#connection?.isClosed) await this.#connection.close();
      if (!this.#connection || this.#connection.isClosed) {
        this.#connection = null;
        const onListChanged = () => {
          if (!signal.aborted) this.#markChanged();
        };
        const opened = await McpConnection.open(server, { timeoutMs, onListChanged }, signal);
        if (signal.aborted) await opened.close();
        signal.throwIfAborted();
        this.#connection = opened;
      }
      const listed = await this.#connection.list(signal);
      signal.throwIfAborted();
      const isFirst = this.#selected === null;
      const selected = selectTools(listed, this.#selection, { isFirst });
      if (isFirst) this.#warnAboutExclude(new Set(listed.map(({ name }) => name)));
      this.#selected = selected;
      this.#offer();
    } catch (error) {
      if (!signal.aborted) this.#isStale = true;
      throw error;
    }
  }

  #offer(): void {
    const { tools = [] } = this.#selected ?? {};
    const offered = tools.filter(({ name }) => !this.#hidden.has(name));
    this.#tools = Object.freeze(offered.map((tool) => this.#createTool(tool)));
  }

  #createTool(selected: SelectedTool): Tool {
    const { name, description, params, listed } = selected;
    const { effects, needsApproval } = this.#options;
    return new Tool({
      name,
      description,
      params,
      handler: (args, context) => this.#call(selected, args, context),
      acceptsOverrides: false,
      effects: effects ?? (listed.annotations?.readOnlyHint === true ? "none" : "once"),
      needsApproval,
    });
  }

  /** Calls a tool. A failure becomes a result that the model can read. */
  async #call(
    called: SelectedTool,
    params: UnknownRecord,
    { signal }: ToolContext,
  ): Promise<ToolResult<unknown>> {
    const connection = this.#connection;
    if (!connection || connection.isClosed) {
      this.#markChanged();
      return ToolResult.error(`${this.#name()} is not connected. It is tried again next turn.`);
    }
    const newest = this.#selected?.tools.find(({ name }) => name === called.name);
    if (!newest) return ToolResult.error(`${this.#name()} no longer has this tool.`);
    if (newest !== called) {
      const checked = await validate(newest.params, params);
      if (!checked.ok) {
        return ToolResult.error(
          `The tool has changed, and the arguments no longer fit: ${checked.problem}`,
        );
      }
    }
    const { callTimeoutMs: timeoutMs = 300_000 } = this.#options;
    try {
      return toToolResult(await connection.call(newest.listed, params, { signal, timeoutMs }));
    } catch (error) {
      signal.throwIfAborted();
      if (connection.isClosed) this.#markChanged();
      return ToolResult.error(getErrorMessage(error));
    }
  }

  #name(): string {
    return `The MCP server ${this.#selection.server}`;
  }

  /** Refuses tools that the prompt already has, or hides them if the evaluation is running. */
  #checkClashes(context: PrepareContext, isFirst: boolean): void {
    const others = context.listOtherToolNames?.();
    const clashing = this.#tools.filter(({ name }) => others?.has(name));
    const [first] = clashing;
    if (!first) return;
    const reason = "another tool of the prompt has the same name";
    if (isFirst) {
      throw new WinkError(
        `${this.#name()} has a tool that would be named "${first.name}", but ${reason}. Set a prefix, or leave the tool out with exclude.`,
      );
    }
    for (const { name } of clashing) {
      this.#hidden.add(name);
      this.#report(context, { type: "McpToolOmitted", tool: name, reason });
    }
    this.#offer();
  }

  /** Dispatches an event to an evaluation's session, once. */
  #report(
    context: PrepareContext,
    report:
      | ({ readonly type: "McpToolOmitted" } & OmittedTool)
      | { readonly type: "McpRefreshFailed"; readonly reason: string },
  ): void {
    const reports = this.#holders.get(context);
    const text = JSON.stringify(report);
    if (!reports || reports.has(text)) return;
    reports.add(text);
    const { session } = context;
    const { server } = this.#selection;
    session.dispatch({ ...report, sessionId: session.id, section: this.key, server });
  }

  #warnAboutExclude(listed: ReadonlySet<string>): void {
    const missing = this.#selection.exclude.filter((name) => !listed.has(name));
    if (missing.length === 0) return;
    const names = missing.map((name) => `"${name}"`).join(", ");
    emitWarning(`${this.#name()} has no tool ${names}, which exclude names. Check the spelling.`);
  }
}

function checkNames(names: readonly string[] | undefined, name: "include" | "exclude"): void {
  if (names === undefined) return;
  if (Array.isArray(names) && names.every((one) => typeof one === "string")) return;
  const rule = "must be an array of tool names";
  const remedy = "use the names that the server lists";
  throw PromptValidationError.at("McpToolsSection")(name, names, rule, remedy);
}

function checkPrefix(prefix: string): void {
  if (typeof prefix === "string" && /^[A-Za-z0-9_-]{0,63}$/.test(prefix)) return;
  const rule = "must be at most 63 of A-Z, a-z, 0-9, _ and -";
  throw PromptValidationError.at("McpToolsSection")("prefix", prefix, rule, 'use "github_"');
}

function checkMilliseconds(value: number | undefined, name: string): void {
  if (value === undefined) return;
  if (Number.isInteger(value) && value > 0 && value < 2 ** 31) return;
  const rule = "must be a positive integer of milliseconds below 2^31";
  throw PromptValidationError.at("McpToolsSection")(name, value, rule, "omit it for the default");
}
