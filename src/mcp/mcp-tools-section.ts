import { getErrorMessage, WinkError } from "../base/errors.ts";
import { type PrepareContext, Section } from "../prompt/section.ts";
import type { Tool } from "../tools/tool.ts";
import { McpReports } from "./mcp-reports.ts";
import { McpToolList } from "./mcp-tool-list.ts";
import {
  checkMcpToolsOptions,
  type McpToolsSectionOptions,
  type McpToolsSettings,
} from "./mcp-tools-section-options.ts";

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
  readonly #settings: McpToolsSettings;
  readonly #list: McpToolList;
  readonly #reports: McpReports;

  constructor(options: McpToolsSectionOptions) {
    const settings = checkMcpToolsOptions(options);
    const { key, policies } = settings;
    super({ key, title: "MCP tools", policies });
    this.#settings = settings;
    this.#list = new McpToolList(settings);
    this.#reports = new McpReports({ section: key, server: this.#list.server });
  }

  /**
   * Connects to the server and lists its tools, unless another evaluation has done both. `evaluate` calls it. If it
   * is called again and fails, the tools that were listed last stay.
   */
  override async prepare(context: PrepareContext): Promise<void> {
    const isFirst = this.#reports.add(context);
    try {
      await this.#list.load(context.signal);
      this.#checkClashes(context, isFirst);
    } catch (error) {
      context.signal.throwIfAborted();
      if (isFirst) throw error;
      this.#reports.send(context, { type: "McpRefreshFailed", reason: getErrorMessage(error) });
    }
    for (const { tool, reason } of this.#list.selected?.omitted ?? []) {
      this.#reports.send(context, { type: "McpToolOmitted", tool, reason });
    }
  }

  /** Closes the connection if no other evaluation uses it. `evaluate` calls it. */
  override async release(context: PrepareContext): Promise<void> {
    this.#reports.delete(context);
    if (this.#reports.isEmpty) await this.close();
  }

  /**
   * Closes the connection. Calls that are running fail. A running evaluation connects again before its next turn.
   */
  async close(): Promise<void> {
    await this.#list.close();
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
    return this.#list.revision;
  }

  /** Returns `""`: the text of a server is only in the descriptions of its tools. Throws if it is not prepared. */
  override render(): string {
    if (this.#list.selected) return "";
    throw new WinkError(
      "The tools of the MCP server are not listed yet. Use evaluate, or await section.prepare({ session, signal }) first.",
    );
  }

  /** Returns the server's tools; none before the section is prepared. */
  override tools(): readonly Tool[] {
    return this.#list.tools;
  }

  /** Returns a section for the same server with some options changed. It has its own connection. */
  override clone(options: Partial<McpToolsSectionOptions> = {}): this {
    return new McpToolsSection({ ...this.#settings, ...options }) as this;
  }

  /** Refuses tools that the prompt already has, or hides them if the evaluation is running. */
  #checkClashes(context: PrepareContext, isFirst: boolean): void {
    const others = context.listOtherToolNames?.();
    const clashing = this.#list.tools.map(({ name }) => name).filter((name) => others?.has(name));
    const [first] = clashing;
    if (first === undefined) return;
    const reason = "another tool of the prompt has the same name";
    if (isFirst) {
      throw new WinkError(
        `${this.#list.title} has a tool that would be named "${first}", but ${reason}. Set a prefix, or leave the tool out with exclude.`,
      );
    }
    this.#list.hide(clashing);
    for (const tool of clashing) {
      this.#reports.send(context, { type: "McpToolOmitted", tool, reason });
    }
  }
}
