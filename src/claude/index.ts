/**
 * The Claude Agent SDK: the same agent in another runtime.
 *
 * A name added here is public: it gets a line in CHANGELOG.md in the same commit.
 */

// The adapter
export { ClaudeAgentSDKAdapter } from "./adapter.ts";
export type { ClaudeAgentSDKAdapterOptions } from "./adapter-options.ts";
export { IsolationAuthError } from "./claude-auth.ts";
export type { ClaudeHostedToolsConfig } from "./hosted-tools-config.ts";
export { type IsolationConfig, noNetwork, type SandboxConfig, withDomains } from "./isolation.ts";
export type { ClaudeModelConfig } from "./model-config.ts";
export type { PermissionMode } from "./permissions.ts";
export type { ClaudeSdk } from "./sdk.ts";
export { claudeHistorySlice } from "./transcript.ts";

// Workspaces

export type { SyncPolicy } from "../files/sync/sync-policy.ts";
export type { SyncReport } from "../files/sync/sync-report.ts";
export {
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "./workspace-section.ts";
