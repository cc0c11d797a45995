/**
 * OpenAI's Responses API: the adapter, its sections and tools, workspaces, compaction and codecs.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */

// The adapter

export { OpenAIAdapter } from "./adapter.ts";
export type { OpenAIAdapterOptions } from "./adapter-options.ts";
export { historySlice } from "./history/history-slice.ts";
export type { OpenAIHostedToolsConfig } from "./hosted-tools-config.ts";
export type {
  BinaryAnswer,
  CallOptions,
  ContainerFilesClient,
  FilePurpose,
  NewContainer,
  NewFile,
  OpenAIClient,
  PageQuery,
} from "./http/client.ts";
export type { OpenAIClientConfig } from "./http/client-config.ts";
export { openAIClient } from "./http/http-client.ts";
export { type UploadFileOptions, uploadFile } from "./http/upload-file.ts";
export type { OpenAIModelConfig, ReasoningConfig, Verbosity } from "./model-config.ts";

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

export type { FileDiff, WorkspaceDiff } from "../files/changes/workspace-diff.ts";
export type { ConflictPolicy, SyncConflict } from "../files/sync/sync-conflict.ts";
export type { SyncPolicy } from "../files/sync/sync-policy.ts";
export type { SyncReport } from "../files/sync/sync-report.ts";
export type { ContainerConfig } from "./workspace/container-config.ts";
export {
  ContainerFilesystem,
  type ContainerFilesystemOptions,
  type DownloadAllOptions,
} from "./workspace/container-filesystem.ts";
export type { ContainerState } from "./workspace/container-lifecycle.ts";
export { ContainerManager, type ContainerManagerOptions } from "./workspace/container-manager.ts";
export {
  OpenAIContainerWorkspaceSection,
  type OpenAIContainerWorkspaceSectionOptions,
} from "./workspace/container-workspace-section.ts";
export type { Unpack } from "./workspace/unpack.ts";

// Compaction

export type { CompactionConfig, CompactionStrategy } from "./compaction/compaction-config.ts";
export {
  CompactionManager,
  type CompactionManagerOptions,
} from "./compaction/compaction-manager.ts";
export { type CompactionState, compactionSlice } from "./compaction/compaction-state.ts";

// Codecs

export type { CodeContainer, CodecEnv, HostedToolCodec, JsonType } from "./codecs/codec.ts";
export { defaultCodecs } from "./codecs/index.ts";
export type { MessageText } from "./codecs/message-text.ts";
export type { WireItem, WireTool } from "./wire.ts";

// Errors

export { CompactionError, ContainerExpiredError } from "./errors/errors.ts";
export { OpenAIRequestError } from "./errors/request-error.ts";
export type { RequestFailure } from "./errors/request-failure.ts";
