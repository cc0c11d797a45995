/**
 * Runs the same prompts on the Claude Agent SDK.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */

// The adapter
export { ClaudeAgentSDKAdapter } from "./adapter.ts";
export type { ClaudeAgentSDKAdapterOptions } from "./adapter-options.ts";
export type { ClaudeHostedToolsConfig } from "./hosted-tools-config.ts";
export { type IsolationConfig, noNetwork, type SandboxConfig, withDomains } from "./isolation.ts";
export type { ClaudeModelConfig } from "./model-config.ts";
export type { PermissionMode } from "./permissions.ts";
export { IsolationAuthError } from "./process/claude-auth.ts";
export { claudeHistorySlice } from "./run/transcript.ts";
export type { ClaudeSdk } from "./sdk.ts";

// Workspaces

export type { FileDiff, WorkspaceDiff } from "../files/changes/workspace-diff.ts";
export type { ConflictPolicy, SyncConflict } from "../files/sync/sync-conflict.ts";
export type { SyncPolicy } from "../files/sync/sync-policy.ts";
export type { SyncReport } from "../files/sync/sync-report.ts";
export {
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "./workspace/workspace-section.ts";
