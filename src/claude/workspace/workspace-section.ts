import { checkOptions } from "../../base/names.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import { type SyncPolicy, syncPolicyOf } from "../../files/sync/sync-policy.ts";
import { MountedSection } from "../../prompt/sections/mounted-section.ts";
import {
  type WorkspaceSectionOptions,
  workspaceChecks,
} from "../../prompt/sections/workspace-options.ts";
import { checkKeys, elsewhere } from "../../tools/config-checks.ts";
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
export class ClaudeAgentWorkspaceSection extends MountedSection<HostWorkspace> {
  /** There is no container. */
  readonly containerId = null;
  readonly #options: ClaudeAgentWorkspaceSectionOptions;

  constructor(options: ClaudeAgentWorkspaceSectionOptions, shared?: SharedWorkspace) {
    checkWorkspaceOptions(options);
    const { workspace, text } = shared ?? made(options);
    super(options, workspace, text);
    this.#options = { ...options };
  }

  /** Of the workspace: clones have the same. */
  get createdAt(): Date {
    return new Date(this.workspace.createdAt);
  }

  override get provider(): string {
    return "claude";
  }

  /** The same workspace in another prompt: it is cleaned up with the last section that has it. */
  override clone(options: Partial<ClaudeAgentWorkspaceSectionOptions> = {}): this {
    const shared = { workspace: this.workspace, text: this.template };
    const clone = new ClaudeAgentWorkspaceSection({ ...this.#options, ...options }, shared);
    this.workspace.share(); // not before there is a clone to clean up
    return clone as this;
  }
}

/** What clones have in common. */
interface SharedWorkspace {
  readonly workspace: HostWorkspace;
  readonly text: string;
}

const NAME = "ClaudeAgentWorkspaceSection";

function checkWorkspaceOptions(options: ClaudeAgentWorkspaceSectionOptions): void {
  checkKeys<ClaudeAgentWorkspaceSectionOptions>({ ...checkOptions(options, NAME) }, NAME, {
    ...workspaceChecks,
    containerConfig: elsewhere,
    unpack: elsewhere,
    deleteOnCleanup: elsewhere,
    client: elsewhere,
  });
}

function made(options: ClaudeAgentWorkspaceSectionOptions): SharedWorkspace {
  const { mounts = [], allowedHostRoots = "any", allowSecrets } = options;
  const plan = planMounts(mounts, { allowedHostRoots, allowSecrets });
  const syncDestination = options.syncDestination ?? null;
  const settings = { plan, syncPolicy: syncPolicyOf(options), syncDestination };
  return { workspace: new HostWorkspace(settings), text: workspaceText(plan) };
}
