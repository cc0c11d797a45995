import { resolve } from "node:path";
import type { Announcement } from "../../adapter/announce.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { messageOf, WinkError } from "../../base/errors.ts";
import { noUsage, type TokenUsage } from "../../base/usage.ts";
import type { MountPlan } from "../../files/mounts/planned-mounts.ts";
import type { SyncPolicy } from "../../files/sync/sync-policy.ts";
import { newSyncFolder, notSynced, type SyncReport, syncTo } from "../../files/sync/sync-report.ts";
import { reserveFolder } from "../../host/temporary-folder.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import type { OpenAIClient } from "../http/client.ts";
import { ContainerCalls, isContainerGone } from "../http/container-calls.ts";
import { defaultPatience, type Patience } from "../http/patience.ts";
import type { OpenAIModelConfig } from "../model-config.ts";
import { ownName } from "./archive-upload.ts";
import { blockRunner } from "./block-runner.ts";
import type { ContainerSettings } from "./container-config.ts";
import { ContainerFilesystem } from "./container-filesystem.ts";
import { ContainerManager, type Replacement } from "./container-manager.ts";
import { FileTraffic } from "./file-traffic.ts";
import { KeepAlive } from "./keep-alive.ts";
import { Mirror } from "./mirror.ts";
import type { Unpack } from "./placement.ts";
import { flatText, type ReplacedFiles, replacedNote } from "./workspace-text.ts";

/** What a workspace is made from, checked. */
export interface WorkspaceSettings {
  readonly plan: MountPlan;
  readonly settings: ContainerSettings;
  readonly name: string;
  readonly unpack: Unpack;
  readonly syncPolicy: SyncPolicy;
  readonly syncDestination: string | null;
  readonly deleteOnCleanup: boolean;
  /** What it talks to the provider with until an adapter does. */
  readonly client: OpenAIClient | null;
}

/** What an adapter lends a workspace while it evaluates. */
export interface WorkspaceBinding {
  readonly client: OpenAIClient;
  readonly model: string;
  readonly modelConfig: OpenAIModelConfig;
  readonly timeoutMs: number;
  readonly patience: Patience;
  /** Nothing may stay at the provider: the container is removed as soon as that can be. */
  readonly isTransient: boolean;
  announce(event: Announcement): void;
}

/** Host files in a container of the provider's, and a mirror of them here that outlives it. */
export class ContainerWorkspace {
  readonly plan: MountPlan;
  readonly filesystem: ContainerFilesystem;
  readonly #settings: WorkspaceSettings;
  readonly #mirror: Mirror;
  readonly #manager: ContainerManager;
  readonly #traffic: FileTraffic;
  readonly #keepAlive: KeepAlive;
  #binding: Pick<WorkspaceBinding, "client" | "patience"> & Partial<WorkspaceBinding>;
  /** What the model is not yet told. */
  #replacement: ReplacedFiles | null = null;
  #isFlat = false;
  #hasBegun = false;
  #isTransient = false;
  #users = 1;
  #cleaned: Promise<SyncReport> | null = null;
  #syncedDir: string | null = null;

  /** `archive`: the name that all files go up by, which the model may be told. */
  constructor(settings: WorkspaceSettings, archive: string, clock: Clock = systemClock) {
    const { plan, unpack } = settings;
    this.plan = plan;
    this.#settings = settings;
    this.#binding = { client: unbound(settings.client), patience: defaultPatience(clock) };
    this.#mirror = new Mirror(reserveFolder(), { plan });
    let calls: { readonly of: OpenAIClient; readonly are: ContainerCalls } | null = null;
    const parts = {
      mirror: this.#mirror,
      calls: () => {
        const { client } = this.#binding;
        if (calls?.of !== client) calls = { of: client, are: new ContainerCalls(client) };
        return calls.are;
      },
      patience: () => this.#binding.patience,
    };
    this.#traffic = new FileTraffic({
      ...parts,
      ...{ clock, unpack, archive },
      containerId: () => this.containerId,
      flattened: (containerId, reason) => this.#flattened(containerId, reason),
    });
    this.#manager = new ContainerManager({
      ...parts,
      settings: settings.settings,
      name: settings.name,
      fill: (containerId, report, signal) => this.#traffic.fill({ containerId, report, signal }),
      replaced: (replacement) => this.#replaced(replacement),
    });
    this.#keepAlive = new KeepAlive(this.#manager, parts, settings.settings.expiresAfterMinutes);
    this.filesystem = new ContainerFilesystem(this.#filesystemParts());
  }

  get tempDir(): string {
    return this.#mirror.root;
  }

  get containerId(): string | null {
    return this.#manager.containerId;
  }

  /** Where the files were brought back to. */
  get syncedDir(): string | null {
    return this.#syncedDir;
  }

  /** Whether the provider makes the container, when code is first run. */
  get isAuto(): boolean {
    return this.#settings.settings.mode === "auto";
  }

  get containerSettings(): ContainerSettings {
    return this.#settings.settings;
  }

  /** From now on this is what it talks by. */
  bind(binding: WorkspaceBinding): void {
    this.#binding = binding;
    this.#isTransient ||= binding.isTransient;
    this.#traffic.tree.bind(blockRunner(binding));
  }

  /** While it is held, the container is not left to expire. */
  hold(clock: Clock): Disposable {
    return this.#keepAlive.hold(clock);
  }

  /** Copies the mounts, if that has not been done. */
  async ready(): Promise<void> {
    this.#hasBegun = true;
    await this.#mirror.ready();
  }

  /** Brings the container to where the next request finds all files; says what the model must read. */
  async prepare(signal: AbortSignal): Promise<PreparedWorkspace> {
    await this.ready();
    const isProvidersToMake = this.isAuto && this.#manager.state === "absent";
    if (isProvidersToMake) return { containerId: null, notes: [], lasting: [] };
    const { containerId, notes } = await this.#manager.use(
      (containerId) => this.#traffic.prepare({ containerId, signal }),
      { signal },
    );
    const replaced = this.#replacement ? [replacedNote(this.#replacement)] : [];
    const lasting = this.#isFlat ? [flatText()] : [];
    return { containerId, notes: [...replaced, ...notes], lasting };
  }

  /** A request went well: what the model was told is told, and code may have run. */
  async turned(turn: WorkspaceTurn, signal: AbortSignal): Promise<void> {
    const replaced = this.#replacement && replacedNote(this.#replacement);
    if (replaced !== null && turn.notes.includes(replaced)) this.#replacement = null;
    if (this.isAuto && turn.containerId !== null) this.#manager.adopt(turn.containerId);
    if (!turn.hasCodeRun) return;
    this.#traffic.codeRan(turn.printed);
    if (this.#settings.syncPolicy === "eachTurn") await this.#pullNow(signal);
  }

  /** A request failed: what code did in it is there all the same. */
  interrupted(): void {
    this.#traffic.codeMayHaveRun();
  }

  /** The containers that it had and that are no more. */
  get gone(): ReadonlySet<string> {
    return this.#manager.gone;
  }

  /** A request failed because the container is gone: there is another one now. */
  async replace(id: string, error: unknown, signal: AbortSignal): Promise<void> {
    this.#manager.lose(id, error);
    try {
      await this.#manager.ensure({ signal });
    } catch (again) {
      signal.throwIfAborted();
      if (again instanceof ContainerExpiredError) throw again;
      const remedy = "the one in its place failed as well; what was written is kept, try again";
      throw new ContainerExpiredError(id, again, remedy);
    }
  }

  /** The container is gone; the next use makes another. */
  lose(id: string, error: unknown): void {
    this.#manager.lose(id, error);
  }

  /** Whether the provider still has the container. */
  async isAlive(id: string, signal: AbortSignal): Promise<boolean> {
    try {
      const status = await new ContainerCalls(this.#binding.client).status(id, { signal });
      return status !== "expired" && status !== "deleted";
    } catch (error) {
      if (isContainerGone(error)) return false;
      throw error;
    }
  }

  /** What the requests of the workspace itself have cost since this was last asked. */
  takeUsage(): TokenUsage {
    return this.#settings.unpack === "files" ? noUsage : this.#traffic.tree.takeUsage();
  }

  /** One more section stands for it. */
  share(): this {
    if (this.#users === 0) throw new WinkError("The workspace was cleaned up: make a new one");
    this.#users += 1;
    return this;
  }

  /** Brings files back if that was asked for, and gives up all that is temporary. */
  async cleanup(): Promise<SyncReport> {
    this.#users -= 1;
    if (this.#users > 0) return notSynced;
    this.#cleaned ??= this.#clean();
    return await this.#cleaned;
  }

  async #clean(): Promise<SyncReport> {
    try {
      return this.#settings.syncPolicy === "never" || !this.#hasBegun
        ? notSynced
        : await this.#sync();
    } finally {
      try {
        const remove = this.#settings.deleteOnCleanup || this.#isTransient;
        await this.#manager.release({ remove });
      } finally {
        await this.#mirror.remove();
      }
    }
  }

  async #sync(): Promise<SyncReport> {
    // Why mounts could not be copied was said when it was tried: there is nothing to bring back.
    if ((await this.#mirror.ready().catch(() => null)) === null) return notSynced;
    const failed = await this.#lastPull();
    const given = this.#settings.syncDestination;
    const directory = given ? resolve(given) : await newSyncFolder();
    const report = await syncTo(directory, this.#mirror, failed);
    this.#syncedDir = directory;
    const { added, changed, deleted, failed: all } = report;
    this.#announce({ type: "WorkspaceSynced", directory, added, changed, deleted, failed: all });
    return report;
  }

  /** A container that is gone by now is not made again for that. */
  async #lastPull() {
    const { containerId } = this;
    const { signal } = new AbortController();
    return await this.#traffic.lastPull(containerId === null ? null : { containerId, signal });
  }

  /** An answer that was had is not lost because files could not be fetched: they may be, later. */
  async #pullNow(signal: AbortSignal): Promise<void> {
    const { containerId } = this;
    if (containerId === null) return;
    try {
      await this.#traffic.pull({ containerId, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (isContainerGone(error)) this.#manager.lose(containerId, error);
      const { logger } = this.#binding.patience;
      logger.warn("what code changed could not be fetched", { problem: messageOf(error) });
    }
  }

  #flattened(containerId: string, reason: string): void {
    this.#isFlat = true;
    this.#announce({ type: "UnpackingFailed", containerId, reason });
  }

  /** The model is told of a container that it has used, in one line. */
  #replaced({ containerId, replacedBy, reason, hasServed }: Replacement): void {
    const { hasLostWork: isStale, writesThrough: isFlat, files } = this.#traffic;
    const lost = hasServed ? ["what code held in memory"] : [];
    if (isStale) lost.push("what code changed in files since they were last fetched");
    const hasLost = isStale || (this.#replacement?.isStale ?? false);
    if (hasServed) this.#replacement = { isStale: hasLost, isFlat };
    this.#announce({
      type: "ContainerReplaced",
      ...{ containerId, replacedBy, reason, restored: files, lost },
    });
  }

  #announce(event: Announcement): void {
    this.#binding.announce?.(event);
  }

  #filesystemParts() {
    const manager = this.#manager;
    const { signal } = new AbortController();
    return {
      touched: this.#traffic.touched,
      get containerId() {
        return manager.containerId;
      },
      host: async () => {
        await this.ready();
        return await this.#mirror.ready();
      },
      ensure: () => manager.ensure(),
      refresh: () => manager.use((containerId) => this.#traffic.pull({ containerId, signal })),
      push: async () => {
        if (!this.#traffic.writesThrough) return;
        await manager.use((containerId) => this.#traffic.push({ containerId, signal }));
      },
      downloadAll: async (directory: string) => {
        await this.#mirror.ready();
        return await syncTo(resolve(directory), this.#mirror, await this.#lastPull());
      },
      cleanup: () => this.cleanup(),
    };
  }
}

/** What the next request is made with. */
export interface PreparedWorkspace {
  readonly containerId: string | null;
  /** For the model to read. */
  readonly notes: readonly string[];
  /** The same for every conversation, each of which is told once. */
  readonly lasting: readonly string[];
}

/** What came of a request. */
export interface WorkspaceTurn {
  readonly notes: readonly string[];
  readonly hasCodeRun: boolean;
  readonly printed: string;
  /** Where code ran, if it did. */
  readonly containerId: string | null;
}

/** What a workspace's archive is called. */
export function archiveName(): string {
  return ownName("tar");
}

/** Stands in for a client that is not there yet. */
function unbound(client: OpenAIClient | null): OpenAIClient {
  if (client) return client;
  const none = (): never => {
    throw new WinkError(
      "The workspace has no client yet: evaluate its prompt first, or give the section a client",
    );
  };
  return {
    responses: { create: none },
    containers: {
      create: none,
      retrieve: none,
      delete: none,
      files: { create: none, list: none, delete: none, content: { retrieve: none } },
    },
    files: { create: none, content: none },
  };
}
