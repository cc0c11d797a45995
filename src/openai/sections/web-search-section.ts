import { checkOptions } from "../../base/names.ts";
import {
  type WebSearchConfig,
  type WebSearchResult,
  webSearchTool,
} from "../../tools/hosted/web-search.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { madeAs } from "../../tools/made-as.ts";
import {
  NativeToolSection,
  type NativeToolSectionOptions,
  overriding,
} from "./native-tool-section.ts";

/** What an `OpenAIWebSearchSection` is made from. */
export interface OpenAIWebSearchSectionOptions extends NativeToolSectionOptions {
  readonly defaultParams?: WebSearchConfig | undefined;
}

/** Lets the model search the web, and says nothing about it: `WebSearchSection` tells it when to. */
export class OpenAIWebSearchSection extends NativeToolSection<
  WebSearchConfig & { readonly allowLiveAccess: boolean },
  HostedTool<WebSearchConfig, WebSearchResult>
> {
  readonly #options: OpenAIWebSearchSectionOptions;

  constructor(options: OpenAIWebSearchSectionOptions = {}) {
    const { key = "openai_web_search", ...rest } = checkOptions(options, "OpenAIWebSearchSection");
    super({ ...rest, key, title: "Web search" }, (section) => {
      const config = `${section} defaultParams`;
      const tool = madeAs({ config }, () => webSearchTool(options.defaultParams));
      const { allowLiveAccess = true } = tool.config;
      return { defaultParams: { ...tool.config, allowLiveAccess }, tool };
    });
    const { tool, nativeTools } = this;
    this.#options = { ...options, key, defaultParams: tool.config, nativeTools };
  }

  /** The same search, with other options where given; `defaultParams` as a whole. */
  override clone(options: OpenAIWebSearchSectionOptions = {}): this {
    const maker: unknown = this.constructor;
    if (maker !== OpenAIWebSearchSection) return super.clone(options);
    return new OpenAIWebSearchSection(overriding(this.#options, options)) as this;
  }
}
