import { resolve } from "node:path";
import type { Announcement } from "../../adapter/events.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { messageOf, WinkError } from "../../base/errors.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import type { MountPlan } from "../../files/mounts/planned-mounts.ts";
import type { SyncPolicy } from "../../files/sync/sync-policy.ts";
import type { SyncFailure } from "../../files/sync/sync-reason.ts";
import { newSyncFolder, notSynced, type SyncReport, syncTo } from "../../files/sync/sync-report.ts";
import { reserveFolder } from "../../host/temporary-folder.ts";
import type { OpenAIClient } from "../http/client.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerSettings } from "./container-config.ts";
import { ContainerLifecycle } from "./container-lifecycle.ts";
import { KeepAlive } from "./keep-alive.ts";
import { Mirror } from "./mirror.ts";
import type { Unpack } from "./placement.ts";
import { ownName } from "./python-snippets.ts";
import { type WorkspaceBinding, WorkspaceConnection } from "./workspace-connection.ts";
import { flatText, replacedNote } from "./workspace-text.ts";
import { WorkspaceTransfer } from "./workspace-transfer.ts";

/** What a workspace is made from, checked. */
export interface WorkspaceSettings {
  readonly plan: MountPlan;
  readonly settings: ContainerSettings;
  /** The container's name at the provider. */
  readonly name: string;
  readonly unpack: Unpack;
  readonly syncPolicy: SyncPolicy;
  readonly syncDestination: string | null;
  readonly deleteOnCleanup: boolean;
  /** The client until an adapter evaluates the prompt. */
  readonly client: OpenAIClient | null;
  /** The file name of the archive with all files, which the model may be told. @default a new one */
  readonly archive?: string | undefined;
  /** A workspace without a prompt: nobody says when code has run. @default none */
  readonly standalone?: StandaloneFiles | undefined;
}

/** The files of a workspace without a prompt. */
export interface StandaloneFiles {
  /** An archive that every container gets as it is. */
  readonly tarballPath?: string | undefined;
  /** A folder with what the archive holds. @default a temporary folder */
  readonly root?: string | undefined;
}

/**
 * Host files in a container at the provider, and a mirror of them on this machine that outlives the
 * container. One evaluation uses it in this order: `bind`, then for each turn `prepare` and
 * `afterTurn`, and at the very end `cleanup`.
 */
export class ContainerWorkspace {
  readonly plan: MountPlan;
  readonly container: ContainerLifecycle;
  readonly #settings: WorkspaceSettings;
  readonly #connection: WorkspaceConnection;
  readonly #mirror: Mirror;
  readonly #transfer: WorkspaceTransfer;
  readonly #keepAlive: KeepAlive;
  #hasBegun = false;
  #isTransient = false;
  #users = 1;
  #cleaned: Promise<SyncReport> | null = null;
  #syncedDir: string | null = null;

  constructor(options: WorkspaceSettings, clock: Clock = systemClock) {
    const { plan, unpack, settings, name, client, archive = archiveName(), standalone } = options;
    this.plan = plan;
    this.#settings = options;
    this.#connection = new WorkspaceConnection(client, clock);
    this.#mirror = new Mirror(
      reserveFolder(),
      standalone?.root === undefined ? { plan } : { root: standalone.root },
    );
    const parts = { connection: this.#connection, mirror: this.#mirror };
    const { tarballPath } = standalone ?? {};
    const isTold = standalone === undefined;
    const contents = new WorkspaceTransfer({
      ...parts,
      clock,
      unpack,
      archive,
      tarballPath,
      isTold,
    });
    this.#transfer = contents;
    this.container = new ContainerLifecycle({ ...parts, settings, name, contents });
    this.#keepAlive = new KeepAlive(this.container, this.#connection, settings.expiresAfterMinutes);
  }

  /** Where the mirror is on this machine. */
  get tempDir(): string {
    return this.#mirror.root;
  }

  get containerId(): string | null {
    return this.container.containerId;
  }

  /** Where the files were copied to by `cleanup`. */
  get syncedDir(): string | null {
    return this.#syncedDir;
  }

  /** Whether the provider makes the container, when code is first run. */
  get isAuto(): boolean {
    return this.containerSettings.mode === "auto";
  }

  get containerSettings(): ContainerSettings {
    return this.#settings.settings;
  }

  /** Uses an adapter's client, retries and events from now on. */
  bind(adapter: WorkspaceBinding, options: BindingOptions): void {
    this.#connection.bind(adapter, options.publish);
    this.#isTransient ||= options.isTransient;
  }

  /** Keeps the container from expiring until the hold is disposed. */
  hold(clock: Clock): Disposable {
    return this.#keepAlive.hold(clock);
  }

  /** Copies the mounts to the mirror, once. */
  async ready(): Promise<void> {
    await this.host();
  }

  /** Makes the container ready for the next request. Returns what the model must read. */
  async prepare(signal: AbortSignal): Promise<PreparedWorkspace> {
    await this.ready();
    const isProvidersToMake = this.isAuto && this.container.state === "absent";
    if (isProvidersToMake) return { containerId: null, notes: [], standingNotes: [] };
    const { containerId, notes } = await this.container.transfer(
      (step) => this.#transfer.prepare(step),
      signal,
    );
    const replaced = this.#replacementNote();
    const standingNotes = this.#transfer.isFlattened ? [flatText()] : [];
    return { containerId, notes: [...replaced, ...notes], standingNotes };
  }

  /** A request succeeded: the model has read its notes, and code may have run. */
  async afterTurn(turn: WorkspaceTurn, signal: AbortSignal): Promise<void> {
    const isTold = this.#replacementNote().some((note) => turn.notes.includes(note));
    if (isTold) this.container.forgetReplacement();
    if (this.isAuto && turn.containerId !== null) this.container.adopt(turn.containerId);
    if (!turn.hasCodeRun) return;
    this.#transfer.codeRan(turn.printed);
    if (this.#settings.syncPolicy === "eachTurn") await this.#pullAfterTurn(signal);
  }

  /** A request failed: code may have run in it. */
  interrupted(): void {
    this.#transfer.codeMayHaveRun();
  }

  /** What the workspace's own requests have cost since the last call of this method. */
  takeUsage(): TokenUsage {
    return this.#connection.takeUsage();
  }

  /** Adds a section that uses the workspace. */
  share(): this {
    if (this.#users === 0) throw new WinkError("The workspace was cleaned up: make a new one");
    this.#users += 1;
    return this;
  }

  /** Paths that were changed on this machine and are not yet in the container. */
  get touched(): Set<string> {
    return this.#transfer.touched;
  }

  /** The mirror's files, once the mounts are copied. */
  async host(): Promise<HostFilesystem> {
    this.#hasBegun = true;
    return await this.#mirror.ready();
  }

  /** Downloads what code changed, if it may have changed anything. */
  async refresh(): Promise<void> {
    await this.container.transfer((step) => this.#transfer.pullIfStale(step));
  }

  /** Uploads what was changed here, where that does not wait for the next request. */
  async push(): Promise<void> {
    if (!this.#transfer.writesThrough) return;
    await this.container.transfer(async (step) => {
      // Without a prompt there is no next request that would upload the list of places.
      await (this.#settings.standalone ? this.#transfer.prepare(step) : this.#transfer.push(step));
    });
  }

  /** Copies every file to a folder of this machine. */
  async downloadAll(directory: string): Promise<SyncReport> {
    await this.#mirror.ready();
    const failed = this.#settings.standalone
      ? await this.container.transfer((step) => this.#transfer.pull(step))
      : await this.#pullLast();
    return await syncTo(resolve(directory), this.#mirror, failed);
  }

  /** Copies the files back if that was asked for, and removes everything temporary. */
  async cleanup(): Promise<SyncReport> {
    this.#users -= 1;
    if (this.#users > 0) return notSynced;
    this.#cleaned ??= this.#clean();
    return await this.#cleaned;
  }

  async #clean(): Promise<SyncReport> {
    try {
      const isSynced = this.#settings.syncPolicy !== "never" && this.#hasBegun;
      return isSynced ? await this.#sync() : notSynced;
    } finally {
      try {
        const remove = this.#settings.deleteOnCleanup || this.#isTransient;
        await this.container.release({ remove });
      } finally {
        await this.#mirror.remove();
      }
    }
  }

  async #sync(): Promise<SyncReport> {
    // Whoever needed the mounts was told why they could not be copied: there is nothing to sync.
    if ((await this.#mirror.ready().catch(() => null)) === null) return notSynced;
    const lost = await this.#pullLast();
    const given = this.#settings.syncDestination;
    const directory = given ? resolve(given) : await newSyncFolder();
    const report = await syncTo(directory, this.#mirror, lost);
    this.#syncedDir = directory;
    const { added, changed, deleted, failed } = report;
    const event = { directory, added, changed, deleted, failed };
    this.#connection.publish({ type: "WorkspaceSynced", ...event });
    return report;
  }

  /** The last download. A container that has died is not made again for it. */
  async #pullLast(): Promise<readonly SyncFailure[]> {
    const isStale = await this.#transfer.isStale();
    const { containerId } = this;
    // Nobody waits for a container that is still being filled: it holds no changes.
    if (containerId === null || !isStale) return await this.#transfer.pullLast(null);
    const { signal } = new AbortController();
    return await this.container.transferIfThere((now) =>
      this.#transfer.pullLast({ containerId: now ?? containerId, signal }),
    );
  }

  /** An answer is not lost because files could not be downloaded: they are tried again later. */
  async #pullAfterTurn(signal: AbortSignal): Promise<void> {
    const { containerId } = this;
    if (containerId === null) return;
    try {
      await this.container.transferIfThere((now) =>
        this.#transfer.pullIfStale({ containerId: now ?? containerId, signal }),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (isContainerGone(error)) this.container.lose(containerId, error);
      const problem = messageOf(error);
      this.#connection.logger.warn("what code changed could not be fetched", { problem });
    }
  }

  #replacementNote(): readonly string[] {
    const replacement = this.container.untoldReplacement;
    return replacement ? [replacedNote(replacement)] : [];
  }
}

/** What an evaluation asks of a workspace. */
export interface BindingOptions {
  publish(event: Announcement): void;
  /** Nothing may stay at the provider: the container is removed with the workspace. */
  readonly isTransient: boolean;
}

/** What the next request is made with. */
export interface PreparedWorkspace {
  readonly containerId: string | null;
  /** For the model to read. */
  readonly notes: readonly string[];
  /** Notes that are true for every conversation: each conversation sends them once. */
  readonly standingNotes: readonly string[];
}

/** What came of a request. */
export interface WorkspaceTurn {
  readonly notes: readonly string[];
  readonly hasCodeRun: boolean;
  readonly printed: string;
  /** Where code ran, if it did. */
  readonly containerId: string | null;
}

/** A file name for a workspace's archive. */
export function archiveName(): string {
  return ownName("tar");
}
