/**
 * OpenAI's Responses API: the adapter, its sections and tools, and what its codecs know of the wire.
 *
 * A name added here is public: it gets a line in CHANGELOG.md in the same commit.
 */

// The adapter

export { OpenAIAdapter } from "./adapter.ts";
export type { OpenAIAdapterOptions } from "./adapter-options.ts";
export { type OpenAIClient, openAIClient } from "./client.ts";
export type { OpenAIClientConfig } from "./client-config.ts";
export { historySlice } from "./history-slice.ts";
export type { OpenAIHostedToolsConfig } from "./hosted-tools-config.ts";
export type { OpenAIModelConfig } from "./model-config.ts";
export { type UploadFileOptions, uploadFile } from "./upload-file.ts";

// Tools

export {
  OpenAICodeInterpreterTool,
  type OpenAICodeInterpreterToolOptions,
} from "./code-interpreter-tool.ts";
export { OpenAIApplyPatchSection } from "./sections/apply-patch-section.ts";
export { OpenAICodeInterpreterSection } from "./sections/code-interpreter-section.ts";
export { OpenAIFileSearchSection } from "./sections/file-search-section.ts";
export { OpenAIShellSection } from "./sections/shell-section.ts";
export { OpenAIWebSearchSection } from "./sections/web-search-section.ts";

// Codecs

export type { CodecEnv, HostedToolCodec } from "./codec.ts";
export { defaultCodecs } from "./codecs/index.ts";
export type { WireItem, WireTool } from "./wire.ts";

// Errors

export { ContainerExpiredError } from "./errors.ts";
export { OpenAIRequestError } from "./request-error.ts";
