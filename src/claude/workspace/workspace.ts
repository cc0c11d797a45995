import { resolve } from "node:path";
import type { Announcement } from "../../adapter/events.ts";
import { systemClock } from "../../base/clock.ts";
import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { surveyFolder } from "../../files/digests/folder-survey.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { MountedFolder } from "../../files/mounts/mounted-folder.ts";
import type { MountPlan } from "../../files/mounts/planned-mounts.ts";
import { ancestorsOf, ROOT } from "../../files/path.ts";
import type { SyncPolicy } from "../../files/sync/sync-policy.ts";
import type { SyncFailure } from "../../files/sync/sync-reason.ts";
import { newSyncFolder, notSynced, type SyncReport, syncTo } from "../../files/sync/sync-report.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { Section } from "../../prompt/section.ts";
import { MountedSection } from "../../prompt/sections/mounted-section.ts";
import type { WorkspaceSectionOptions } from "../../prompt/sections/workspace-options.ts";
import { WorkspaceFilesystem } from "./workspace-filesystem.ts";

/** A section of a prompt that has a workspace for Claude. */
export type WorkspaceOwner = MountedSection<HostWorkspace, WorkspaceSectionOptions>;

/** Checked settings of a workspace. */
export interface WorkspaceSettings {
  readonly plan: MountPlan;
  readonly syncPolicy: SyncPolicy;
  readonly syncDestination: string | null;
}

/** Copies of host files in a temporary folder of this machine, in which other processes work. */
export class HostWorkspace {
  readonly plan: MountPlan;
  readonly filesystem: Filesystem = new WorkspaceFilesystem(() => this.#begin());
  readonly createdAt = new Date(systemClock.now());
  readonly #settings: WorkspaceSettings;
  readonly #folder: MountedFolder;
  #announce: ((event: Announcement) => void) | null = null;
  #hasBegun = false;
  #users = 1;
  #cleaned: Promise<SyncReport> | null = null;
  #syncedDir: string | null = null;

  constructor(settings: WorkspaceSettings) {
    this.plan = settings.plan;
    this.#settings = settings;
    // Other processes change the folder unseen, so the digests must be taken before that.
    this.#folder = new MountedFolder(
      { plan: settings.plan },
      { keepsDigests: this.#isBroughtBack },
    );
  }

  get tempDir(): string {
    return this.#folder.root;
  }

  /** Where the files were synced to; `null` if they were not. */
  get syncedDir(): string | null {
    return this.#syncedDir;
  }

  /** Sets how the workspace publishes events. */
  bind(announce: (event: Announcement) => void): void {
    this.#announce = announce;
  }

  /** Copies the mounts, if they were not copied before. */
  async ready(): Promise<void> {
    await this.#begin();
  }

  /** Counts one more section that uses the workspace. */
  share(): void {
    if (this.#users === 0) throw new WinkError("The workspace was cleaned up: make a new one");
    this.#users += 1;
  }

  /** Syncs files back if the policy says so, and removes the temporary folder. */
  async cleanup(): Promise<SyncReport> {
    this.#users -= 1;
    if (this.#users > 0) return notSynced;
    this.#cleaned ??= this.#clean();
    return await this.#cleaned;
  }

  get #isBroughtBack(): boolean {
    return this.#settings.syncPolicy !== "never";
  }

  async #begin() {
    this.#hasBegun = true;
    return await this.#folder.ready();
  }

  async #clean(): Promise<SyncReport> {
    try {
      return this.#isBroughtBack && this.#hasBegun ? await this.#sync() : notSynced;
    } finally {
      await this.#folder.remove();
    }
  }

  async #sync(): Promise<SyncReport> {
    // If copying the mounts failed, that was reported then, and there is nothing to sync.
    if ((await this.#folder.ready().catch(() => null)) === null) return notSynced;
    const { digests, failed } = await surveyFolder(this.tempDir);
    const given = this.#settings.syncDestination;
    const directory = given ? resolve(given) : await newSyncFolder();
    const source = {
      root: this.tempDir,
      original: withoutFailed(this.#folder.original, failed),
      sourceOf: (path: string) => this.#folder.sourceOf(path),
      digests: async () => digests,
    };
    const report = await syncTo(directory, source, failed);
    this.#syncedDir = directory;
    const { added, changed, deleted, failed: all } = report;
    this.#announce?.({
      type: "WorkspaceSynced",
      ...{ directory, added, changed, deleted, failed: all },
    });
    return report;
  }
}

/** Finds the section with a prompt's workspace; `null` if it has none. */
export function findWorkspace(prompt: Prompt): WorkspaceOwner | null {
  return findWorkspaces(prompt)[0]?.section ?? null;
}

/** Throws for a prompt with several workspaces, because the SDK works in one folder. */
export function checkOneWorkspace(prompt: Prompt): void {
  const all = findWorkspaces(prompt);
  if (all.length < 2) return;
  throw new InvalidOptionError({
    field: "The prompt's workspaces",
    value: all.map(({ path }) => path),
    rule: "must be at most one, for the SDK works in one folder",
    remedy: "put all mounts into one section",
  });
}

/** `evaluate` refuses what is no prompt; until then it has no workspace. */
function findWorkspaces(prompt: Prompt) {
  const outline = prompt?.template?.outline ?? [];
  return outline.flatMap(({ path, section }) => (isOwner(section) ? [{ path, section }] : []));
}

function isOwner(section: Section): section is WorkspaceOwner {
  return section instanceof MountedSection && section.workspace instanceof HostWorkspace;
}

/** Leaves out files that could not be read, because they were not deleted. */
function withoutFailed(
  original: ReadonlyMap<string, string>,
  failed: readonly SyncFailure[],
): ReadonlyMap<string, string> {
  if (failed.length === 0) return original;
  const unknown = new Set(failed.map(({ path }) => path));
  const isKnown = (path: string) =>
    ![path, ...ancestorsOf(path), ROOT].some((above) => unknown.has(above));
  return new Map([...original].filter(([path]) => isKnown(path)));
}
