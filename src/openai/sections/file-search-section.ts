import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import {
  arrayCheck,
  checkKeys,
  checkSingleLine,
  integerCheck,
  optional,
} from "../../tools/config-checks.ts";
import {
  type FileSearchConfig,
  type FileSearchResult,
  fileSearchTool,
} from "../../tools/hosted/file-search.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import {
  mergeOptions,
  NativeToolSection,
  type NativeToolSectionOptions,
  nativeToolSectionKeys,
} from "./native-tool-section.ts";

/** The vector stores to search and the number of results. */
export interface FileSearchParams {
  /**
   * Vector store ids. May be empty until the first request, which throws if there is none. @default
   * []
   */
  readonly corpusIds?: readonly string[] | undefined;
  /** The most results per search, 1 to 50. @default 5 */
  readonly maxResults?: number | undefined;
}

/** Options of the `OpenAIFileSearchSection` constructor. */
export interface OpenAIFileSearchSectionOptions extends NativeToolSectionOptions {
  /** The vector stores to search and the number of results. */
  readonly defaultParams?: FileSearchParams | undefined;
}

const keys: KnownKeys<OpenAIFileSearchSectionOptions> = {
  ...nativeToolSectionKeys,
  defaultParams: true,
};

/** Lets the model search files in OpenAI's vector stores. */
export class OpenAIFileSearchSection extends NativeToolSection<
  ResolvedFileSearchParams,
  HostedTool<FileSearchConfig, FileSearchResult>
> {
  readonly #options: OpenAIFileSearchSectionOptions;

  constructor(options: OpenAIFileSearchSectionOptions = {}) {
    checkKnownKeys(options, "OpenAIFileSearchSection", keys, PromptValidationError);
    const { key = "openai_file_search", ...rest } = options;
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

  /** Creates a copy; `options` override the original's. `defaultParams` is replaced as a whole. */
  override clone(options: OpenAIFileSearchSectionOptions = {}): this {
    checkKnownKeys(options, "OpenAIFileSearchSection", keys, PromptValidationError);
    const maker: unknown = this.constructor;
    if (maker !== OpenAIFileSearchSection) return super.clone(options);
    return new OpenAIFileSearchSection(mergeOptions(this.#options, options)) as this;
  }
}

interface ResolvedFileSearchParams {
  readonly corpusIds: readonly string[];
  readonly maxResults: number;
}

function checkParams(params: FileSearchParams, field: string): void {
  checkKeys<FileSearchParams>(params, field, {
    corpusIds: optional(arrayCheck(checkSingleLine)),
    maxResults: optional(integerCheck(1, 50)),
  });
}
