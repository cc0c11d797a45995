import { PromptValidationError } from "../../base/errors.ts";
import { checkOptions } from "../../base/names.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import type { MountPlan } from "../../files/mounts/planned-mounts.ts";
import { type SyncPolicy, syncPolicyOf } from "../../files/sync/sync-policy.ts";
import { MountedSection } from "../../prompt/sections/mounted-section.ts";
import {
  type WorkspaceSectionOptions,
  workspaceChecks,
} from "../../prompt/sections/workspace-options.ts";
import { checkBoolean, checkKeys, elsewhere, oneOf, optional } from "../../tools/config-checks.ts";
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
export class OpenAIContainerWorkspaceSection extends MountedSection<MountedContainer> {
  readonly #options: OpenAIContainerWorkspaceSectionOptions;

  constructor(options: OpenAIContainerWorkspaceSectionOptions, shared?: SharedWorkspace) {
    checkWorkspaceOptions(options);
    const { workspace, text } = shared ?? made(options);
    super(options, workspace, text);
    this.#options = { ...options };
  }

  /** `null` before the first use. */
  get containerId(): string | null {
    return this.workspace.containerId;
  }

  override get provider(): string {
    return "openai";
  }

  /** The same workspace in another prompt: it is cleaned up with the last section that has it. */
  override clone(options: Partial<OpenAIContainerWorkspaceSectionOptions> = {}): this {
    const shared = { workspace: this.workspace, text: this.template };
    const clone = new OpenAIContainerWorkspaceSection({ ...this.#options, ...options }, shared);
    this.workspace.share(); // not before there is a clone to clean up
    return clone as this;
  }
}

/** A workspace that tools on this machine can use as well. */
class MountedContainer extends ContainerWorkspace {
  readonly filesystem = new ContainerFilesystem(this);
}

/** What clones have in common. */
interface SharedWorkspace {
  readonly workspace: MountedContainer;
  readonly text: string;
}

const NAME = "OpenAIContainerWorkspaceSection";

function checkWorkspaceOptions(options: OpenAIContainerWorkspaceSectionOptions): void {
  checkKeys<OpenAIContainerWorkspaceSectionOptions>({ ...checkOptions(options, NAME) }, NAME, {
    ...workspaceChecks,
    deleteOnCleanup: optional(checkBoolean),
    unpack: optional(oneOf(["bootstrap", "prompt", "files"])),
    client: optional(checkClient),
    containerConfig: elsewhere, // by what takes it
  });
}

function made(options: OpenAIContainerWorkspaceSectionOptions): SharedWorkspace {
  const { session, unpack = "bootstrap", client } = options;
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
    deleteOnCleanup: options.deleteOnCleanup ?? false,
    client: client ?? null,
  });
  return { workspace, text: workspaceText(plan, unpack, archive) };
}

function planOf(
  { mounts = [], allowedHostRoots, allowSecrets }: OpenAIContainerWorkspaceSectionOptions,
  { mode }: ContainerSettings,
): MountPlan {
  if (mounts.length > 0 && mode === "auto") {
    throw new PromptValidationError({
      field: `${NAME}.containerConfig.mode`,
      value: mode,
      rule: 'must be "explicit" with mounts',
      remedy: "leave it out: files can only be brought into a container that is made for them",
    });
  }
  if (mounts.length > 0 && allowedHostRoots === undefined) {
    throw new PromptValidationError({
      field: `${NAME}.allowedHostRoots`,
      value: allowedHostRoots,
      rule: "must be given with mounts, for these files leave this machine",
      remedy: 'list the folders that they may come from, or write "any"',
    });
  }
  return planMounts(mounts, { allowedHostRoots: allowedHostRoots ?? [], allowSecrets });
}

function checkClient(value: unknown, field: string): void {
  const { containers } = Object(value);
  if (typeof containers?.files?.create === "function") return;
  const rule = "must be an OpenAI client";
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: "give new OpenAI(), or openAIClient()",
  });
}
