import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
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
  nativeToolSectionKeys,
} from "./native-tool-section.ts";

/** Options of the `OpenAIWebSearchSection` constructor. */
export interface OpenAIWebSearchSectionOptions extends NativeToolSectionOptions {
  /** The tool's config. @default the provider's defaults, with live access */
  readonly defaultParams?: WebSearchConfig | undefined;
}

const keys: KnownKeys<OpenAIWebSearchSectionOptions> = {
  ...nativeToolSectionKeys,
  defaultParams: true,
};

/** Lets the model search the web. Adds no text: `WebSearchSection` also explains when to search. */
export class OpenAIWebSearchSection extends NativeToolSection<
  WebSearchConfig & { readonly allowLiveAccess: boolean },
  HostedTool<WebSearchConfig, WebSearchResult>
> {
  readonly #options: OpenAIWebSearchSectionOptions;

  constructor(options: OpenAIWebSearchSectionOptions = {}) {
    checkKnownKeys(options, "OpenAIWebSearchSection", keys, PromptValidationError);
    const { key = "openai_web_search", ...rest } = options;
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
    checkKnownKeys(options, "OpenAIWebSearchSection", keys, PromptValidationError);
    const maker: unknown = this.constructor;
    if (maker !== OpenAIWebSearchSection) return super.clone(options);
    return new OpenAIWebSearchSection(mergeOptions(this.#options, options)) as this;
  }
}
