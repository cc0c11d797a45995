import { checkOptions } from "../../base/check-names.ts";
import { resolveSyncPolicy, type SyncPolicy } from "../../files/sync/sync-policy.ts";
import { MountedSection, type SharedFiles } from "../../prompt/sections/mounted-section.ts";
import { planWorkspace } from "../../prompt/sections/plan-workspace.ts";
import { WorkspaceKeeper } from "../../prompt/sections/workspace-keeper.ts";
import {
  checkSyncOptions,
  type WorkspaceSectionOptions,
  workspaceChecks,
} from "../../prompt/sections/workspace-options.ts";
import { type Checks, checkKeys, deferCheck } from "../../tools/config-checks.ts";
import { HostWorkspace } from "./host-workspace.ts";
import { renderWorkspaceText } from "./render-workspace-text.ts";

/**
 * Options of a `ClaudeAgentWorkspaceSection`. They include the container options of
 * `OpenAIContainerWorkspaceSection`, which have no effect here, so that you can switch classes without
 * other changes.
 */
export interface ClaudeAgentWorkspaceSectionOptions extends WorkspaceSectionOptions {
  /**
   * Folders that mounts may come from, compared by real path.
   * @default "any", because the files stay on the host
   */
  readonly allowedHostRoots?: readonly string[] | "any" | undefined;
  /**
   * When to sync files back. `"eachTurn"` is the same as `"cleanup"`, because the files are always on
   * the host.
   * @default "cleanup" if `syncOnCleanup` is set, otherwise "never"
   */
  readonly syncPolicy?: SyncPolicy | undefined;
  /** Ignored, because Claude does not use containers. */
  readonly containerConfig?: object | null | undefined;
  /** Ignored, because Claude does not use containers. */
  readonly unpack?: string | undefined;
  /** Ignored, because Claude does not use containers. */
  readonly deleteOnCleanup?: boolean | undefined;
  /** Ignored, because Claude does not use containers. */
  readonly client?: object | undefined;
}

/**
 * A workspace for Claude: copies of host files in a temporary folder, which the SDK's tools can read and
 * change.
 *
 * The constructor scans the mounts but does not copy files. They are copied at the first use.
 *
 * @example
 * ```ts
 * import { Session } from "weakincentives";
 * import { ClaudeAgentWorkspaceSection } from "weakincentives/claude";
 *
 * const workspace = new ClaudeAgentWorkspaceSection({
 *   session: new Session(),
 *   mounts: [{ hostPath: "/home/me/project" }],
 * });
 * try {
 *   // use the section in a prompt and evaluate it
 * } finally {
 *   await workspace.cleanup();
 * }
 * ```
 */
export class ClaudeAgentWorkspaceSection extends MountedSection<
  HostWorkspace,
  ClaudeAgentWorkspaceSectionOptions
> {
  /** Always `null`, because Claude does not use containers. */
  readonly containerId = null;

  constructor(options: ClaudeAgentWorkspaceSectionOptions, shared?: SharedFiles<HostWorkspace>) {
    checkKeys({ ...checkOptions(options, NAME) }, NAME, checks);
    checkSyncOptions(options, NAME);
    super("claude", options, shared ?? createSharedFiles(options));
  }

  /** When the workspace was created. Clones have the same time. */
  get createdAt(): Date {
    return new Date(this.workspace.createdAt);
  }

  /** Shares the workspace with another prompt. The cleanup of the last section removes it. */
  override clone(options: Partial<ClaudeAgentWorkspaceSectionOptions> = {}): this {
    return this.cloneAs(ClaudeAgentWorkspaceSection, options);
  }
}

const NAME = "ClaudeAgentWorkspaceSection";

const checks: Checks<ClaudeAgentWorkspaceSectionOptions> = {
  ...workspaceChecks,
  containerConfig: deferCheck,
  unpack: deferCheck,
  deleteOnCleanup: deferCheck,
  client: deferCheck,
};

function createSharedFiles(
  options: ClaudeAgentWorkspaceSectionOptions,
): SharedFiles<HostWorkspace> {
  const { mounts = [], allowedHostRoots = "any", allowSecrets } = options;
  const { syncDestination = null, onConflict = "keep" } = options;
  const syncPolicy = resolveSyncPolicy(options);
  const { session, key: section = "workspace", persistDir = null } = options;
  const kept = { session, section, persistDir };
  const plan = planWorkspace(kept, mounts, { allowedHostRoots, allowSecrets });
  const keeper = new WorkspaceKeeper(kept);
  const settings = { plan, syncPolicy, syncDestination, onConflict, keeper };
  return { workspace: new HostWorkspace(settings), text: renderWorkspaceText(plan) };
}
