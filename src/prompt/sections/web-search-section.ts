import { checkKnownKeys, PromptValidationError } from "../../base/errors.ts";
import { copyAndFreeze } from "../../base/freeze.ts";
import {
  type WebSearchConfig,
  type WebSearchResult,
  webSearchTool,
} from "../../tools/hosted/web-search.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { MarkdownSection } from "./markdown-section.ts";

/** Options of {@link WebSearchSection} in addition to its config. */
export interface WebSearchSectionOptions {
  /** Key of the section. @default "web_search" */
  readonly key?: string | undefined;
}

const guidance = `
  Search the web when the answer may be newer than your training, or when a claim needs a source.
  Cite every source you used.
`;

/**
 * A section that lets the model search the web, and explains when to do so.
 *
 * @example
 * ```ts
 * import { MarkdownSection, PromptTemplate, WebSearchSection } from "weakincentives";
 *
 * const template = new PromptTemplate({
 *   ns: "news",
 *   key: "digest",
 *   sections: [
 *     new MarkdownSection({ key: "task", title: "Task", template: "Summarize today's science news." }),
 *     new WebSearchSection({ domainFilter: { allowed: ["nature.com", "science.org"] } }),
 *   ],
 * });
 * ```
 */
export class WebSearchSection extends MarkdownSection {
  readonly #config: WebSearchConfig;
  readonly #tool: HostedTool<WebSearchConfig, WebSearchResult>;

  constructor(config: WebSearchConfig = {}, options: WebSearchSectionOptions = {}) {
    checkKnownKeys(options, "WebSearchSection(options)", { key: true }, PromptValidationError);
    const { key = "web_search" } = options;
    const tool = webSearchTool(config);
    super({ key, title: "Web Search", template: guidance, hostedTools: [tool] });
    this.#tool = tool;
    this.#config = copyAndFreeze(config);
  }

  /** Returns the web search tool. `response.hostedOutputs.get(tool)` returns its typed output. */
  override hostedTools(): readonly [HostedTool<WebSearchConfig, WebSearchResult>] {
    return [this.#tool];
  }

  override clone(options: WebSearchSectionOptions = {}): this {
    const { constructor: actualClass } = this;
    const { key = this.key, ...unknown } = options;
    if (actualClass !== WebSearchSection) return super.clone({ ...unknown, key });
    return new WebSearchSection(this.#config, { ...unknown, key }) as this;
  }
}
