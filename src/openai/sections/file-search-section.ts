import { checkOptions } from "../../base/names.ts";
import { checkKeys, checkText, integerFrom, listOf, optional } from "../../tools/config-checks.ts";
import {
  type FileSearchConfig,
  type FileSearchResult,
  fileSearchTool,
} from "../../tools/hosted/file-search.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import {
  NativeToolSection,
  type NativeToolSectionOptions,
  overriding,
} from "./native-tool-section.ts";

/** What is searched, and for how much. */
export interface FileSearchParams {
  /** Vector stores. May be empty here; a request with none is refused. @default [] */
  readonly corpusIds?: readonly string[] | undefined;
  /** 1 to 50. @default 5 */
  readonly maxResults?: number | undefined;
}

/** What an `OpenAIFileSearchSection` is made from. */
export interface OpenAIFileSearchSectionOptions extends NativeToolSectionOptions {
  readonly defaultParams?: FileSearchParams | undefined;
}

/** Lets the model search files in OpenAI's vector stores. */
export class OpenAIFileSearchSection extends NativeToolSection<
  WholeFileSearchParams,
  HostedTool<FileSearchConfig, FileSearchResult>
> {
  readonly #options: OpenAIFileSearchSectionOptions;

  constructor(options: OpenAIFileSearchSectionOptions = {}) {
    const { key = "openai_file_search", ...rest } = checkOptions(
      options,
      "OpenAIFileSearchSection",
    );
    super({ ...rest, key, title: "File search" }, (section) => {
      const { defaultParams: given = {} } = options;
      checkParams(given, `${section} defaultParams`);
      const { corpusIds = [], maxResults = 5 } = given;
      const tool = fileSearchTool({ vectorStoreIds: corpusIds, maxResults });
      return { defaultParams: { corpusIds: tool.config.vectorStoreIds, maxResults }, tool };
    });
    const { defaultParams, nativeTools } = this;
    this.#options = { ...options, key, defaultParams, nativeTools };
  }

  /** The same search, with other options where given; `defaultParams` as a whole. */
  override clone(options: OpenAIFileSearchSectionOptions = {}): this {
    const maker: unknown = this.constructor;
    if (maker !== OpenAIFileSearchSection) return super.clone(options);
    return new OpenAIFileSearchSection(overriding(this.#options, options)) as this;
  }
}

interface WholeFileSearchParams {
  readonly corpusIds: readonly string[];
  readonly maxResults: number;
}

function checkParams(params: FileSearchParams, field: string): void {
  checkKeys<FileSearchParams>(params, field, {
    corpusIds: optional(listOf(checkText)),
    maxResults: optional(integerFrom(1, 50)),
  });
}
