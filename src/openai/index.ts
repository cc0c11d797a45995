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
  type ContainerFilesClient,
  type FilePurpose,
  type NewContainer,
  type NewFile,
  type OpenAIClient,
  openAIClient,
  type PageQuery,
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

// Workspaces

export type { SyncPolicy } from "../files/sync/sync-policy.ts";
export type { SyncReport } from "../files/sync/sync-report.ts";
export {
  OpenAIContainerWorkspaceSection,
  type OpenAIContainerWorkspaceSectionOptions,
} from "./container-workspace-section.ts";
export type { ContainerConfig } from "./workspace/container-config.ts";
export { ContainerFilesystem } from "./workspace/container-filesystem.ts";
export {
  ContainerManager,
  type ContainerManagerOptions,
  type ContainerState,
} from "./workspace/container-manager.ts";
export type { Unpack } from "./workspace/file-traffic.ts";
export type { ContainerFilesystemOptions } from "./workspace/standalone.ts";

// Compaction

export { CompactionManager, type CompactionManagerOptions } from "./compaction.ts";
export type { CompactionConfig, CompactionStrategy } from "./compaction-config.ts";
export { type CompactionState, compactionSlice } from "./compaction-state.ts";

// Codecs

export type { CodecEnv, HostedToolCodec, JsonType } from "./codec.ts";
export { defaultCodecs } from "./codecs/index.ts";
export type { WireItem, WireTool } from "./wire.ts";

// Errors

export { CompactionError, ContainerExpiredError } from "./errors.ts";
export { OpenAIRequestError } from "./request-error.ts";
export type { RequestFailure } from "./request-failure.ts";
