/**
 * OpenAI's Responses API: the adapter, its sections and tools, and what its codecs know of the wire.
 *
 * A name added here is public: it gets a line in CHANGELOG.md in the same commit.
 */

// The adapter

export { OpenAIAdapter } from "./adapter.ts";
export type { OpenAIAdapterOptions } from "./adapter-options.ts";
export {
  type BinaryAnswer,
  type CallOptions,
  type FilePurpose,
  type NewFile,
  type OpenAIClient,
  openAIClient,
} from "./client.ts";
export type { OpenAIClientConfig } from "./client-config.ts";
export { historySlice } from "./history-slice.ts";
export type { OpenAIHostedToolsConfig } from "./hosted-tools-config.ts";
export type { OpenAIModelConfig, ReasoningConfig } from "./model-config.ts";
export { type UploadFileOptions, uploadFile } from "./upload-file.ts";

// Tools

export {
  OpenAICodeInterpreterTool,
  type OpenAICodeInterpreterToolOptions,
} from "./code-interpreter-tool.ts";
export {
  OpenAIApplyPatchSection,
  type OpenAIApplyPatchSectionOptions,
} from "./sections/apply-patch-section.ts";
export {
  OpenAICodeInterpreterSection,
  type OpenAICodeInterpreterSectionOptions,
} from "./sections/code-interpreter-section.ts";
export {
  type FileSearchParams,
  OpenAIFileSearchSection,
  type OpenAIFileSearchSectionOptions,
} from "./sections/file-search-section.ts";
export {
  OpenAIShellSection,
  type OpenAIShellSectionOptions,
} from "./sections/shell-section.ts";
export {
  OpenAIWebSearchSection,
  type OpenAIWebSearchSectionOptions,
} from "./sections/web-search-section.ts";

// Codecs

export type { CodecEnv, HostedToolCodec, JsonType } from "./codec.ts";
export { defaultCodecs } from "./codecs/index.ts";
export type { WireItem, WireTool } from "./wire.ts";

// Errors

export { ContainerExpiredError } from "./errors.ts";
export { OpenAIRequestError } from "./request-error.ts";
export type { RequestFailure } from "./request-failure.ts";
