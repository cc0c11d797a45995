import { checkOptions } from "../../base/names.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import { type SyncPolicy, syncPolicyOf } from "../../files/sync/sync-policy.ts";
import { MountedSection, type SharedFiles } from "../../prompt/sections/mounted-section.ts";
import {
  type WorkspaceSectionOptions,
  workspaceChecks,
} from "../../prompt/sections/workspace-options.ts";
import { type Checks, checkKeys, elsewhere } from "../../tools/config-checks.ts";
import { HostWorkspace } from "./workspace.ts";
import { workspaceText } from "./workspace-text.ts";

/**
 * What a `ClaudeAgentWorkspaceSection` is made from. `containerConfig`, `unpack`, `deleteOnCleanup`
 * and `client` may be anything, because there is no container: what was written for an
 * `OpenAIContainerWorkspaceSection` needs only the other class's name.
 */
export interface ClaudeAgentWorkspaceSectionOptions extends WorkspaceSectionOptions {
  /** Where mounts may come from, by their real paths. @default "any": they stay on this machine */
  readonly allowedHostRoots?: readonly string[] | "any" | undefined;
  /** `"eachTurn"` is `"cleanup"`: the files are on this machine all along. @default by `syncOnCleanup` */
  readonly syncPolicy?: SyncPolicy | undefined;
  /** Of no effect. */
  readonly containerConfig?: object | null | undefined;
  /** Of no effect. */
  readonly unpack?: string | undefined;
  /** Of no effect. */
  readonly deleteOnCleanup?: boolean | undefined;
  /** Of no effect. */
  readonly client?: object | undefined;
}

/**
 * Copies of host files in a temporary folder, in which the model's own tools work on them.
 *
 * The constructor looks at every mount and copies nothing.
 */
export class ClaudeAgentWorkspaceSection extends MountedSection<
  HostWorkspace,
  ClaudeAgentWorkspaceSectionOptions
> {
  /** There is no container. */
  readonly containerId = null;

  constructor(options: ClaudeAgentWorkspaceSectionOptions, shared?: SharedFiles<HostWorkspace>) {
    checkKeys({ ...checkOptions(options, NAME) }, NAME, checks);
    super("claude", options, shared ?? createFiles(options));
  }

  /** When the workspace was created; clones have the same. */
  get createdAt(): Date {
    return new Date(this.workspace.createdAt);
  }

  /** Returns the same workspace for another prompt: the last section that has it cleans it up. */
  override clone(options: Partial<ClaudeAgentWorkspaceSectionOptions> = {}): this {
    return this.cloneAs(ClaudeAgentWorkspaceSection, options);
  }
}

const NAME = "ClaudeAgentWorkspaceSection";

const checks: Checks<ClaudeAgentWorkspaceSectionOptions> = {
  ...workspaceChecks,
  containerConfig: elsewhere,
  unpack: elsewhere,
  deleteOnCleanup: elsewhere,
  client: elsewhere,
};

function createFiles(options: ClaudeAgentWorkspaceSectionOptions): SharedFiles<HostWorkspace> {
  const { mounts = [], allowedHostRoots = "any", allowSecrets, syncDestination = null } = options;
  const plan = planMounts(mounts, { allowedHostRoots, allowSecrets });
  const settings = { plan, syncPolicy: syncPolicyOf(options), syncDestination };
  return { workspace: new HostWorkspace(settings), text: workspaceText(plan) };
}
