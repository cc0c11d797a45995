import type { Clock } from "../../base/clock.ts";
import { invalidValue } from "../api-problem.ts";
import type { UploadedFile } from "../http/multipart.ts";
import type { Ids } from "../ids.ts";
import type {
  PythonRun,
  RunLimits,
  Sandbox,
  SandboxOptions,
  SandboxProcess,
  ShellRun,
} from "../sandbox/sandbox.ts";
import { ContainerFileStore } from "../store/container-file-store.ts";
import {
  ContainerStore,
  MEMORY_TIERS,
  type NetworkPolicy,
  type StoredContainer,
} from "../store/container-store.ts";
import type { Database } from "../store/database.ts";
import type { FileStore } from "../store/file-store.ts";
import { type ListPage, type PageQuery, toPage } from "../store/paging.ts";
import {
  type ContainerFileRecord,
  ContainerFiles,
  type ContainerFolder,
  type OpenedFile,
} from "./container-files.ts";
import { ContainerLife } from "./container-life.ts";
import { ContainerProcesses } from "./container-processes.ts";

/** What containers are made of. */
export interface ContainersOptions {
  readonly database: Database;
  readonly files: FileStore;
  readonly dataDir: string;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits?: ContainerLimits | undefined;
}

/** How much one container may hold, besides its memory. */
export interface ContainerLimits {
  /** @default what the sandbox takes for it */
  readonly diskBytes?: number | undefined;
  /** @default what the sandbox takes for it */
  readonly maxProcesses?: number | undefined;
  /** Files of a container that are listed; code may make more. @default 10000 */
  readonly maxListedFiles?: number | undefined;
}

/** How a container is made. */
export interface ContainerOptions {
  readonly name: string;
  /** `"1g"`, `"4g"`, `"16g"` or `"64g"`. @default "1g" */
  readonly memoryLimit?: string | undefined;
  /** How long it lives when nobody uses it. @default 20 */
  readonly expiresAfterMinutes?: number | undefined;
  /** Uploaded files to copy in. @default none */
  readonly fileIds?: readonly string[] | undefined;
  readonly networkPolicy?: NetworkPolicy | undefined;
}

/** A container, as OpenAI shows it. */
export interface ContainerRecord {
  readonly id: string;
  readonly object: "container";
  readonly created_at: number;
  readonly status: "running" | "expired";
  readonly name: string;
  readonly last_active_at: number;
  readonly expires_after: { readonly anchor: "last_active_at"; readonly minutes: number };
  readonly memory_limit: string;
  readonly network_policy?: NetworkPolicy;
}

/** What a run did, and the files that it made or changed. */
export type ContainerRun<Run> = Run & { readonly files: readonly ContainerFileRecord[] };

const GIBIBYTE = 2 ** 30;

/** The containers of a local provider: what routes show and hosted tools run code in. */
export class Containers implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #limits: ContainerLimits;
  readonly #store: ContainerStore;
  readonly #files: ContainerFiles;
  readonly #processes: ContainerProcesses;
  readonly #life: ContainerLife;

  constructor(options: ContainersOptions) {
    const { database, files, dataDir, sandbox, clock, ids, limits = {} } = options;
    const { maxListedFiles = 10_000 } = limits;
    this.#clock = clock;
    this.#ids = ids;
    this.#limits = limits;
    this.#store = new ContainerStore(database);
    const store = new ContainerFileStore(database, ids);
    this.#files = new ContainerFiles({ store, files, clock, ids, maxListedFiles });
    this.#processes = new ContainerProcesses(sandbox);
    this.#life = new ContainerLife({
      store: this.#store,
      dataDir,
      clock,
      onEnd: (id) => {
        this.#files.forget(id);
        return this.#processes.end(id);
      },
    });
  }

  /** Makes one; its process starts when something is to be run. */
  async create(options: ContainerOptions): Promise<ContainerRecord> {
    const { name, memoryLimit = "1g", expiresAfterMinutes = 20, networkPolicy = null } = options;
    if (!MEMORY_TIERS.includes(memoryLimit)) {
      throw invalidValue("memory_limit", memoryLimit, MEMORY_TIERS);
    }
    const fileIds = new Set(options.fileIds);
    for (const fileId of fileIds) this.#files.nameOf(fileId, "file_ids");
    const id = this.#ids.next("cntr_");
    const now = this.#clock.now();
    const container: StoredContainer = {
      id,
      name,
      createdAt: now,
      lastActiveAt: now,
      minutes: expiresAfterMinutes,
      memoryLimit,
      networkPolicy,
      expired: false,
    };
    await this.#life.add(container, async (root) => {
      for (const fileId of fileIds) await this.#files.copy({ id, root }, fileId);
    });
    return toRecord(container);
  }

  /** One page of all, or of those of one name. As OpenAI's, it says of each that it is active now. */
  list(query: PageQuery, name?: string): ListPage<ContainerRecord> {
    const { containers, hasMore } = this.#store.list(query, name);
    const lastActiveAt = this.#clock.now();
    const records = containers.map((one) => toRecord({ ...this.#life.current(one), lastActiveAt }));
    return toPage(records, hasMore);
  }

  /** What it is; this keeps a live one alive. */
  retrieve(id: string): ContainerRecord {
    if (!this.#life.find(id).expired) this.#life.touch(id);
    return toRecord(this.#life.find(id));
  }

  /** Refuses one that is unknown or has expired, in OpenAI's words. */
  check(id: string): void {
    this.#life.check(id);
  }

  /** It is gone, with its files and its process. */
  delete(id: string): Promise<void> {
    return this.#life.delete(id);
  }

  /** Ends its life now, as if its time were over. */
  expire(id: string): Promise<void> {
    return this.#life.expire(id);
  }

  /** Takes a file that was sent to the container itself. */
  upload(id: string, file: UploadedFile): Promise<ContainerFileRecord> {
    return this.#life.use(id, () => this.#files.upload(this.#folderOf(id), file));
  }

  /** Copies a file that was uploaded before. */
  copyFile(id: string, fileId: string): Promise<ContainerFileRecord> {
    return this.#life.use(id, () => this.#files.copy(this.#folderOf(id), fileId));
  }

  /** One page of the files that users sent and code made. */
  async listFiles(id: string, query: PageQuery): Promise<ListPage<ContainerFileRecord>> {
    const found = await this.#life.use(id, () => this.#files.list(this.#folderOf(id), query));
    return toPage(found.records, found.hasMore);
  }

  /** One of its files. */
  retrieveFile(id: string, fileId: string): Promise<ContainerFileRecord> {
    return this.#life.use(id, () => this.#files.retrieve(this.#folderOf(id), fileId));
  }

  /** One of its files, opened: whoever asks closes it. */
  async openFile(id: string, fileId: string): Promise<OpenedFile> {
    const opened: OpenedFile[] = [];
    try {
      return await this.#life.use(id, async () => {
        const file = await this.#files.open(this.#folderOf(id), fileId);
        opened.push(file);
        return file;
      });
    } catch (error) {
      for (const { handle } of opened) await handle.close(); // the container has died meanwhile
      throw error;
    }
  }

  /** Removes one of its files. */
  deleteFile(id: string, fileId: string): Promise<void> {
    return this.#life.use(id, () => this.#files.delete(this.#folderOf(id), fileId));
  }

  /** Runs statements in the container's one interpreter. */
  python(id: string, code: string, limits: RunLimits): Promise<ContainerRun<PythonRun>> {
    return this.#run(id, limits, (process) => process.python(code, limits));
  }

  /** Runs a command beside it, on the same files. */
  shell(id: string, command: string, limits: RunLimits): Promise<ContainerRun<ShellRun>> {
    return this.#run(id, limits, (process) => process.shell(command, limits));
  }

  /** Kills every process; containers and their files stay for the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#processes[Symbol.asyncDispose]();
    await this.#life[Symbol.asyncDispose]();
  }

  #run<Run extends object>(
    id: string,
    { signal }: RunLimits,
    work: (process: SandboxProcess) => Promise<Run>,
  ): Promise<ContainerRun<Run>> {
    return this.#life.use(id, (container) =>
      this.#processes.run(id, this.#sandboxOptions(container), (process) => {
        signal?.throwIfAborted();
        return this.#files.during(this.#folderOf(id), () => work(process));
      }),
    );
  }

  #sandboxOptions({ id, memoryLimit }: StoredContainer): SandboxOptions {
    const { diskBytes, maxProcesses } = this.#limits;
    const memoryBytes = Number.parseInt(memoryLimit, 10) * GIBIBYTE;
    return { root: this.#life.rootOf(id), memoryBytes, diskBytes, maxProcesses };
  }

  #folderOf(id: string): ContainerFolder {
    return { id, root: this.#life.rootOf(id) };
  }
}

function toRecord(container: StoredContainer): ContainerRecord {
  return {
    id: container.id,
    object: "container",
    created_at: Math.floor(container.createdAt / 1000),
    status: container.expired ? "expired" : "running",
    name: container.name,
    last_active_at: Math.floor(container.lastActiveAt / 1000),
    expires_after: { anchor: "last_active_at", minutes: container.minutes },
    memory_limit: container.memoryLimit,
    ...(container.networkPolicy && { network_policy: container.networkPolicy }),
  };
}
