import { checkOptions } from "../../base/check-names.ts";
import { PromptValidationError } from "../../base/errors.ts";
import type { MountPlan } from "../../files/mounts/mount-plan.ts";
import { resolveSyncPolicy, type SyncPolicy } from "../../files/sync/sync-policy.ts";
import type { KeeperOptions } from "../../prompt/sections/find-kept-mounts.ts";
import { MountedSection, type SharedFiles } from "../../prompt/sections/mounted-section.ts";
import { planWorkspace } from "../../prompt/sections/plan-workspace.ts";
import {
  checkSyncOptions,
  type WorkspaceSectionOptions,
  workspaceChecks,
} from "../../prompt/sections/workspace-options.ts";
import {
  type Checks,
  checkBoolean,
  checkKeys,
  deferCheck,
  enumCheck,
  optional,
} from "../../tools/config-checks.ts";
import type { OpenAIClient } from "../http/client.ts";
import { checkSingleUploads } from "../http/uploadable-types.ts";
import { checkUploadSizes } from "./check-upload-sizes.ts";
import {
  type ContainerConfig,
  type ContainerSettings,
  resolveContainerSettings,
} from "./container-config.ts";
import { ContainerFilesystem } from "./container-filesystem.ts";
import { createUploadName } from "./python-snippets.ts";
import type { Unpack } from "./unpack.ts";
import { WorkspaceLoader } from "./workspace-loader.ts";
import { workspaceText } from "./workspace-text.ts";

/** The options of an `OpenAIContainerWorkspaceSection`. */
export interface OpenAIContainerWorkspaceSectionOptions extends WorkspaceSectionOptions {
  /** The folders that mounts may come from. Required with mounts, because their files are uploaded. */
  readonly allowedHostRoots?: readonly string[] | "any" | undefined;
  /** Configures the container. @default the defaults of `ContainerConfig` */
  readonly containerConfig?: ContainerConfig | null | undefined;
  /**
   * When changed files are downloaded. `"eachTurn"`: after every turn in which code ran, and on
   * cleanup. @default "cleanup" with `syncOnCleanup`, otherwise "never"
   */
  readonly syncPolicy?: SyncPolicy | undefined;
  /** Deletes the container on cleanup. Otherwise it expires. @default false */
  readonly deleteOnCleanup?: boolean | undefined;
  /** How files get into the container. @default "bootstrap" */
  readonly unpack?: Unpack | undefined;
  /** The client for use before an adapter evaluates the prompt. @default the adapter's client */
  readonly client?: OpenAIClient | undefined;
}

/**
 * Host files in an OpenAI container, where the model's code works on them. The container is created on
 * first use, and created again with all files when it is lost.
 *
 * The constructor checks every mount and copies nothing.
 *
 * @example
 * ```ts
 * import { Session } from "weakincentives";
 * import { OpenAIContainerWorkspaceSection } from "weakincentives/openai";
 *
 * const session = new Session();
 * const workspace = new OpenAIContainerWorkspaceSection({
 *   session,
 *   mounts: [{ hostPath: "/home/me/project", excludeGlob: [".git/*"], maxBytes: 20_000_000 }],
 *   allowedHostRoots: ["/home/me/project"],
 *   syncOnCleanup: true,
 * });
 * try {
 *   // use the section in a prompt and evaluate it
 * } finally {
 *   const { added, changed } = await workspace.cleanup();
 * }
 * ```
 */
export class OpenAIContainerWorkspaceSection extends MountedSection<
  MountedContainer,
  OpenAIContainerWorkspaceSectionOptions
> {
  constructor(
    options: OpenAIContainerWorkspaceSectionOptions,
    shared?: SharedFiles<MountedContainer>,
  ) {
    checkKeys({ ...checkOptions(options, NAME) }, NAME, checks);
    checkSyncOptions(options, NAME);
    super("openai", options, shared ?? createFiles(options));
  }

  /** The container's id, or `null` before the first use. */
  get containerId(): string | null {
    return this.workspace.containerId;
  }

  /** Returns a section with the same workspace. The last section that is cleaned up removes it. */
  override clone(options: Partial<OpenAIContainerWorkspaceSectionOptions> = {}): this {
    return this.cloneAs(OpenAIContainerWorkspaceSection, options);
  }
}

/** A workspace whose files tools on the host can use too. */
class MountedContainer extends WorkspaceLoader {
  readonly filesystem = new ContainerFilesystem(this);
}

const NAME = "OpenAIContainerWorkspaceSection";

const checks: Checks<OpenAIContainerWorkspaceSectionOptions> = {
  ...workspaceChecks,
  deleteOnCleanup: optional(checkBoolean),
  unpack: optional(enumCheck(["bootstrap", "prompt", "files"])),
  client: optional(checkWorkspaceClient),
  containerConfig: deferCheck, // by containerSettings()
};

function createFiles(
  options: OpenAIContainerWorkspaceSectionOptions,
): SharedFiles<MountedContainer> {
  const { session, unpack = "bootstrap", deleteOnCleanup = false } = options;
  const settings = resolveContainerSettings(
    options.containerConfig ?? {},
    `${NAME}.containerConfig`,
  );
  const { key: section = "workspace", persistDir = null } = options;
  const kept = { session, section, persistDir };
  const plan = createMountPlan(options, settings, kept);
  if (unpack === "files") checkSingleUploads(plan.files.map(({ mountPath }) => mountPath));
  checkUploadSizes(plan, unpack);
  const archive = createUploadName("tar");
  const workspace = new MountedContainer({
    plan,
    settings,
    name: `weakincentives ${session.id}`,
    unpack,
    archive,
    syncPolicy: resolveSyncPolicy(options),
    syncDestination: options.syncDestination ?? null,
    onConflict: options.onConflict,
    deleteOnCleanup,
    kept,
    client: options.client ?? null,
  });
  return { workspace, text: workspaceText(plan, unpack, archive) };
}

const refuse = PromptValidationError.at(NAME);

function createMountPlan(
  options: OpenAIContainerWorkspaceSectionOptions,
  { mode }: ContainerSettings,
  kept: KeeperOptions,
): MountPlan {
  const { mounts = [], allowSecrets } = options;
  const hasMounts = Array.isArray(mounts) && mounts.length > 0; // planMounts() rejects other values
  if (hasMounts && mode === "auto") {
    const remedy = "omit it: only a container that the adapter creates can be filled with files";
    throw refuse("containerConfig.mode", mode, 'must be "explicit" with mounts', remedy);
  }
  if (hasMounts && options.allowedHostRoots === undefined) {
    const rule = "must be provided with mounts, because these files are uploaded";
    const remedy = 'list the folders that mounts may come from, or pass "any"';
    throw refuse("allowedHostRoots", undefined, rule, remedy);
  }
  const { allowedHostRoots = [] } = options;
  return planWorkspace(kept, mounts, { allowedHostRoots, allowSecrets });
}

function checkWorkspaceClient(value: unknown, field: string): void {
  const { containers } = Object(value);
  if (typeof containers?.files?.create === "function") return;
  const remedy = "pass new OpenAI() or openAIClient()";
  throw new PromptValidationError({ field, value, rule: "must be an OpenAI client", remedy });
}
