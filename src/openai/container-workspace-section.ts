import { PromptValidationError } from "../base/errors.ts";
import { checkOptions } from "../base/names.ts";
import type { HostMount } from "../files/host-mount.ts";
import { type MountPlan, planMounts } from "../files/mount-plan.ts";
import type { HostMountPreview } from "../files/mount-preview.ts";
import { MarkdownSection } from "../prompt/markdown-section.ts";
import { Session } from "../session/session.ts";
import {
  checkBoolean,
  checkKeys,
  checkText,
  elsewhere,
  oneOf,
  optional,
} from "../tools/config-checks.ts";
import type { OpenAIClient } from "./client.ts";
import { checkSingleUploads } from "./uploadable-types.ts";
import {
  type ContainerConfig,
  type ContainerSettings,
  containerSettings,
} from "./workspace/container-config.ts";
import type { ContainerFilesystem } from "./workspace/container-filesystem.ts";
import {
  archiveName,
  ContainerWorkspace,
  type SyncPolicy,
} from "./workspace/container-workspace.ts";
import type { Unpack } from "./workspace/file-traffic.ts";
import type { SyncReport } from "./workspace/sync-report.ts";
import { workspaceText } from "./workspace/workspace-text.ts";

/** What an `OpenAIContainerWorkspaceSection` is made from. */
export interface OpenAIContainerWorkspaceSectionOptions {
  readonly session: Session;
  /** Folders and files of this machine. @default none: the container starts empty */
  readonly mounts?: readonly HostMount[] | undefined;
  /** Where mounts may come from; they leave this machine, so that it must be said. */
  readonly allowedHostRoots?: readonly string[] | "any" | undefined;
  readonly containerConfig?: ContainerConfig | null | undefined;
  /** Brings the files back when it is cleaned up. @default false */
  readonly syncOnCleanup?: boolean | undefined;
  /** Where to. @default a new folder, which stays: `syncedDir` */
  readonly syncDestination?: string | undefined;
  /** `"eachTurn"`: also after every turn in which code ran. @default by `syncOnCleanup` */
  readonly syncPolicy?: SyncPolicy | undefined;
  /** Removes the container at once; else it goes when its time is over. @default false */
  readonly deleteOnCleanup?: boolean | undefined;
  /** Key files and the like that may go along, by path or glob. @default none */
  readonly allowSecrets?: readonly string[] | undefined;
  /** How the files come into the container. @default "bootstrap" */
  readonly unpack?: Unpack | undefined;
  /** @default false */
  readonly acceptsOverrides?: boolean | undefined;
  /** For use before an adapter evaluates the prompt. @default the adapter's */
  readonly client?: OpenAIClient | undefined;
  /** @default "workspace" */
  readonly key?: string | undefined;
  /** @default "Workspace" */
  readonly title?: string | undefined;
}

/**
 * Host files inside a container of OpenAI's, where the model's code works on them. The container is
 * made when it is first needed, and made again, with all files, when it is gone.
 *
 * The constructor looks at every mount and copies nothing.
 */
export class OpenAIContainerWorkspaceSection extends MarkdownSection implements AsyncDisposable {
  readonly session: Session;
  readonly #workspace: ContainerWorkspace;
  readonly #options: OpenAIContainerWorkspaceSectionOptions;
  #cleaned: Promise<SyncReport> | null = null;

  constructor(options: OpenAIContainerWorkspaceSectionOptions, shared?: SharedWorkspace) {
    const { session, key = "workspace", title = "Workspace" } = checked(options);
    const { workspace, text } = shared ?? made(options);
    super({ key, title, template: text, acceptsOverrides: options.acceptsOverrides ?? false });
    this.session = session;
    this.#options = { ...options };
    this.#workspace = workspace;
  }

  /** Where the files are on this machine, until it is cleaned up. */
  get tempDir(): string {
    return this.#workspace.tempDir;
  }

  /** What each mount brings, and what is withheld. */
  get mountPreviews(): readonly HostMountPreview[] {
    return this.#workspace.plan.previews;
  }

  /** The container's files, for tools that run here. */
  get filesystem(): ContainerFilesystem {
    return this.#workspace.filesystem;
  }

  /** `null` before the first use. */
  get containerId(): string | null {
    return this.#workspace.containerId;
  }

  /** Where the files were brought back to, once they were. */
  get syncedDir(): string | null {
    return this.#workspace.syncedDir;
  }

  /** For the adapter. */
  get workspace(): ContainerWorkspace {
    return this.#workspace;
  }

  /** Copies the mounts now; else that is done at the first use. */
  async ready(): Promise<void> {
    await this.#workspace.ready();
  }

  /** The same workspace in another prompt: it is cleaned up with the last section that has it. */
  override clone(options: Partial<OpenAIContainerWorkspaceSectionOptions> = {}): this {
    const workspace = this.#workspace.share();
    const shared = { workspace, text: this.template };
    return new OpenAIContainerWorkspaceSection({ ...this.#options, ...options }, shared) as this;
  }

  /** Brings the files back if that was asked for, and gives up all that is temporary. */
  override async cleanup(): Promise<SyncReport> {
    this.#cleaned ??= this.#workspace.cleanup();
    return await this.#cleaned;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cleanup();
  }
}

/** What clones have in common. */
interface SharedWorkspace {
  readonly workspace: ContainerWorkspace;
  readonly text: string;
}

const NAME = "OpenAIContainerWorkspaceSection";

function checked(
  options: OpenAIContainerWorkspaceSectionOptions,
): OpenAIContainerWorkspaceSectionOptions {
  checkKeys<OpenAIContainerWorkspaceSectionOptions>({ ...checkOptions(options, NAME) }, NAME, {
    session: checkSession,
    syncOnCleanup: optional(checkBoolean),
    syncDestination: optional(checkText),
    syncPolicy: optional(oneOf(["never", "cleanup", "eachTurn"])),
    deleteOnCleanup: optional(checkBoolean),
    unpack: optional(oneOf(["bootstrap", "prompt", "files"])),
    acceptsOverrides: optional(checkBoolean),
    client: optional(checkClient),
    // Each of these is looked at by what takes it.
    mounts: elsewhere,
    allowedHostRoots: elsewhere,
    containerConfig: elsewhere,
    allowSecrets: elsewhere,
    key: elsewhere,
    title: elsewhere,
  });
  return options;
}

function made(options: OpenAIContainerWorkspaceSectionOptions): SharedWorkspace {
  const { session, unpack = "bootstrap", syncOnCleanup = false, client } = options;
  const settings = containerSettings(options.containerConfig ?? {}, `${NAME}.containerConfig`);
  const plan = planOf(options, settings);
  if (unpack === "files") checkSingleUploads(plan.files.map(({ mountPath }) => mountPath));
  const archive = archiveName();
  const workspace = new ContainerWorkspace(
    {
      plan,
      settings,
      name: `weakincentives ${session.id}`,
      unpack,
      syncPolicy: options.syncPolicy ?? (syncOnCleanup ? "cleanup" : "never"),
      syncDestination: options.syncDestination ?? null,
      deleteOnCleanup: options.deleteOnCleanup ?? false,
      client: client ?? null,
    },
    archive,
  );
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

function checkSession(value: unknown, field: string): void {
  if (value instanceof Session) return;
  const rule = "must be a Session";
  throw new PromptValidationError({ field, value, rule, remedy: "give the one you evaluate with" });
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
