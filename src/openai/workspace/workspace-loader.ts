import { type Clock, systemClock } from "../../base/clock.ts";
import { WinkError } from "../../base/errors.ts";
import type { WorkspaceDiff } from "../../files/changes/workspace-diff.ts";
import type { HostMountPreview } from "../../files/mounts/host-mount-preview.ts";
import { notSynced, type SyncReport } from "../../files/sync/sync-report.ts";
import { chooseTemporaryPath, getFilesPath } from "../../host/temporary-path.ts";
import { type CleanupOptions, createInUseError } from "../../prompt/sections/mounted-section.ts";
import type { ContainerSettings } from "./container-config.ts";
import type { ContainerWorkspace } from "./container-workspace.ts";
import type { WorkspaceSettings } from "./workspace-settings.ts";

/**
 * A workspace whose code is imported when it is first used, because most processes that import this library have none
 * (decision 97). Clones of a section share it: the last one that is cleaned up removes it.
 */
export class WorkspaceLoader {
  readonly #settings: WorkspaceSettings;
  readonly #clock: Clock;
  readonly #home = chooseTemporaryPath();
  #loading: Promise<ContainerWorkspace> | null = null;
  #workspace: ContainerWorkspace | null = null;
  #userCount = 1;
  #holdCount = 0;

  constructor(settings: WorkspaceSettings, clock: Clock = systemClock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  get containerSettings(): ContainerSettings {
    return this.#settings.settings;
  }

  /** The container's id, or `null` before the first use. */
  get containerId(): string | null {
    return this.#workspace?.containerId ?? null;
  }

  /** The local folder of the files. */
  get tempDir(): string {
    return getFilesPath(this.#home);
  }

  get previews(): readonly HostMountPreview[] {
    return (this.#workspace ?? this.#settings.plan).previews;
  }

  /** The folder that `cleanup` copied the files to. */
  get syncedDir(): string | null {
    return this.#workspace?.syncedDir ?? null;
  }

  /** The workspace; `null` until it is created. */
  get workspace(): ContainerWorkspace | null {
    return this.#workspace;
  }

  /** Returns the workspace, which is created on the first call. After a failure, the next call tries again. */
  load(): Promise<ContainerWorkspace> {
    this.#loading ??= this.#create().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  /** Prevents a cleanup, and the container from expiring, until the returned hold is disposed. */
  hold(clock: Clock): Disposable {
    this.#holdCount += 1;
    let isHeld = true;
    let container: Disposable | null = null;
    this.load().then(
      (workspace) => {
        if (isHeld) container = workspace.hold(clock);
      },
      () => {}, // whoever uses the workspace gets the error
    );
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#holdCount -= 1;
        isHeld = false;
        container?.[Symbol.dispose]();
      },
    };
  }

  /** Copies the mounts, once. */
  async ready(): Promise<void> {
    await (await this.load()).ready();
  }

  /** Downloads the changes that code made, and compares the files with the mounted versions. */
  async diff(): Promise<WorkspaceDiff> {
    return await (await this.load()).diff();
  }

  /** Throws if an evaluation uses the files and the next cleanup would remove them. */
  checkIdle(): void {
    if (this.#holdCount > 0 && this.#userCount === 1) throw createInUseError();
  }

  /** Registers another section that uses the workspace. */
  share(): void {
    if (this.#userCount <= 0)
      throw new WinkError("The workspace was cleaned up. Create a new one.");
    this.#userCount += 1;
  }

  /** Syncs the files if configured, and removes everything temporary. */
  async cleanup(options?: CleanupOptions): Promise<SyncReport> {
    this.#userCount -= 1;
    if (this.#userCount > 0 || !this.#loading) return notSynced;
    return await (await this.load()).cleanup(options);
  }

  async #create(): Promise<ContainerWorkspace> {
    const { ContainerWorkspace } = await import("./container-workspace.ts");
    const settings = { ...this.#settings, home: this.#home };
    const workspace = new ContainerWorkspace(settings, this.#clock);
    if (this.#userCount <= 0) await workspace.cleanup(); // it was cleaned up before its first use
    this.#workspace = workspace;
    return workspace;
  }
}
