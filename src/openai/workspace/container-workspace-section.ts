import { PromptValidationError } from "../../base/errors.ts";
import { checkOptions } from "../../base/names.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import type { MountPlan } from "../../files/mounts/planned-mounts.ts";
import { type SyncPolicy, syncPolicyOf } from "../../files/sync/sync-policy.ts";
import { MountedSection, type SharedFiles } from "../../prompt/sections/mounted-section.ts";
import {
  type WorkspaceSectionOptions,
  workspaceChecks,
} from "../../prompt/sections/workspace-options.ts";
import {
  type Checks,
  checkBoolean,
  checkKeys,
  elsewhere,
  oneOf,
  optional,
} from "../../tools/config-checks.ts";
import type { OpenAIClient } from "../http/client.ts";
import { checkSingleUploads } from "../http/uploadable-types.ts";
import {
  type ContainerConfig,
  type ContainerSettings,
  containerSettings,
} from "./container-config.ts";
import { ContainerFilesystem } from "./container-filesystem.ts";
import { archiveName, ContainerWorkspace } from "./container-workspace.ts";
import type { Unpack } from "./placement.ts";
import { workspaceText } from "./workspace-text.ts";

/** What an `OpenAIContainerWorkspaceSection` is made from. */
export interface OpenAIContainerWorkspaceSectionOptions extends WorkspaceSectionOptions {
  /** Where mounts may come from; they leave this machine, so that it must be said. */
  readonly allowedHostRoots?: readonly string[] | "any" | undefined;
  readonly containerConfig?: ContainerConfig | null | undefined;
  /** `"eachTurn"`: also after every turn in which code ran. @default by `syncOnCleanup` */
  readonly syncPolicy?: SyncPolicy | undefined;
  /** Removes the container at once; else it goes when its time is over. @default false */
  readonly deleteOnCleanup?: boolean | undefined;
  /** How the files come into the container. @default "bootstrap" */
  readonly unpack?: Unpack | undefined;
  /** For use before an adapter evaluates the prompt. @default the adapter's */
  readonly client?: OpenAIClient | undefined;
}

/**
 * Host files inside a container of OpenAI's, where the model's code works on them. The container is
 * made when it is first needed, and made again, with all files, when it is gone.
 *
 * The constructor looks at every mount and copies nothing.
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
    super("openai", options, shared ?? createFiles(options));
  }

  /** `null` before the first use. */
  get containerId(): string | null {
    return this.workspace.containerId;
  }

  /** Returns the same workspace for another prompt: the last section that has it cleans it up. */
  override clone(options: Partial<OpenAIContainerWorkspaceSectionOptions> = {}): this {
    return this.cloneAs(OpenAIContainerWorkspaceSection, options);
  }
}

/** A workspace that tools on this machine can use as well. */
class MountedContainer extends ContainerWorkspace {
  readonly filesystem = new ContainerFilesystem(this);
}

const NAME = "OpenAIContainerWorkspaceSection";

const checks: Checks<OpenAIContainerWorkspaceSectionOptions> = {
  ...workspaceChecks,
  deleteOnCleanup: optional(checkBoolean),
  unpack: optional(oneOf(["bootstrap", "prompt", "files"])),
  client: optional(checkClient),
  containerConfig: elsewhere, // by what takes it
};

function createFiles(
  options: OpenAIContainerWorkspaceSectionOptions,
): SharedFiles<MountedContainer> {
  const { session, unpack = "bootstrap", deleteOnCleanup = false } = options;
  const settings = containerSettings(options.containerConfig ?? {}, `${NAME}.containerConfig`);
  const plan = planOf(options, settings);
  if (unpack === "files") checkSingleUploads(plan.files.map(({ mountPath }) => mountPath));
  const archive = archiveName();
  const workspace = new MountedContainer({
    plan,
    settings,
    name: `weakincentives ${session.id}`,
    unpack,
    archive,
    syncPolicy: syncPolicyOf(options),
    syncDestination: options.syncDestination ?? null,
    deleteOnCleanup,
    client: options.client ?? null,
  });
  return { workspace, text: workspaceText(plan, unpack, archive) };
}

const refuse = PromptValidationError.at(NAME);

function planOf(
  { mounts = [], allowedHostRoots, allowSecrets }: OpenAIContainerWorkspaceSectionOptions,
  { mode }: ContainerSettings,
): MountPlan {
  if (mounts.length > 0 && mode === "auto") {
    const remedy = "leave it out: files can only be brought into a container that is made for them";
    throw refuse("containerConfig.mode", mode, 'must be "explicit" with mounts', remedy);
  }
  if (mounts.length > 0 && allowedHostRoots === undefined) {
    const rule = "must be given with mounts, for these files leave this machine";
    const remedy = 'list the folders that they may come from, or write "any"';
    throw refuse("allowedHostRoots", allowedHostRoots, rule, remedy);
  }
  return planMounts(mounts, { allowedHostRoots: allowedHostRoots ?? [], allowSecrets });
}

function checkClient(value: unknown, field: string): void {
  const { containers } = Object(value);
  if (typeof containers?.files?.create === "function") return;
  const remedy = "give new OpenAI(), or openAIClient()";
  throw new PromptValidationError({ field, value, rule: "must be an OpenAI client", remedy });
}
