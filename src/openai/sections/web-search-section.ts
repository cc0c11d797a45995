import { checkOptions } from "../../base/check-names.ts";
import {
  type WebSearchConfig,
  type WebSearchResult,
  webSearchTool,
} from "../../tools/hosted/web-search.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { renameConfigError } from "../../tools/rename-config-error.ts";
import {
  mergeOptions,
  NativeToolSection,
  type NativeToolSectionOptions,
} from "./native-tool-section.ts";

/** Options of the `OpenAIWebSearchSection` constructor. */
export interface OpenAIWebSearchSectionOptions extends NativeToolSectionOptions {
  /** The tool's config. @default the provider's defaults, with live access */
  readonly defaultParams?: WebSearchConfig | undefined;
}

/** Lets the model search the web. Adds no text: `WebSearchSection` also explains when to search. */
export class OpenAIWebSearchSection extends NativeToolSection<
  WebSearchConfig & { readonly allowLiveAccess: boolean },
  HostedTool<WebSearchConfig, WebSearchResult>
> {
  readonly #options: OpenAIWebSearchSectionOptions;

  constructor(options: OpenAIWebSearchSectionOptions = {}) {
    const { key = "openai_web_search", ...rest } = checkOptions(options, "OpenAIWebSearchSection");
    super({ ...rest, key, title: "Web search" }, (section) => {
      const config = `${section} defaultParams`;
      const tool = renameConfigError({ config }, () => webSearchTool(options.defaultParams));
      const { allowLiveAccess = true } = tool.config;
      return { defaultParams: { ...tool.config, allowLiveAccess }, tool };
    });
    const { tool, nativeTools } = this;
    this.#options = { ...options, key, defaultParams: tool.config, nativeTools };
  }

  /** Creates a copy; `options` override the original's. `defaultParams` is replaced as a whole. */
  override clone(options: OpenAIWebSearchSectionOptions = {}): this {
    const maker: unknown = this.constructor;
    if (maker !== OpenAIWebSearchSection) return super.clone(options);
    return new OpenAIWebSearchSection(mergeOptions(this.#options, options)) as this;
  }
}
