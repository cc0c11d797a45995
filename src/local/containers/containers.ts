import type { Clock } from "../../base/clock.ts";
import { ApiProblem, invalidValue } from "../api-problem.ts";
import type { UploadedFile } from "../http/read-multipart.ts";
import type { Ids } from "../ids.ts";
import type { InputFile } from "../input-files.ts";
import type {
  PythonRun,
  RunLimits,
  Sandbox,
  SandboxOptions,
  SandboxProcess,
  ShellRun,
} from "../sandbox/sandbox.ts";
import { ContainerFileStore } from "../store/container-file-store.ts";
import { ContainerStore, MEMORY_TIERS, type StoredContainer } from "../store/container-store.ts";
import type { Database } from "../store/database.ts";
import type { FileStore } from "../store/file-store.ts";
import type { NetworkPolicy } from "../store/network-policy.ts";
import { type ListPage, type PageQuery, toPage } from "../store/paging.ts";
import {
  type ContainerFileRecord,
  ContainerFiles,
  type ContainerFolder,
  type OpenedFile,
} from "./container-files.ts";
import { ContainerLifecycle } from "./container-lifecycle.ts";
import { ContainerProcesses } from "./container-processes.ts";
import type { ContainerDisks } from "./disks/container-disks.ts";
import { LostVariables } from "./lost-variables.ts";
import { chooseMaxInterpreters, readMachine, reduceMemory } from "./machine.ts";

/** Options of {@link Containers}. */
export interface ContainersOptions {
  readonly database: Database;
  readonly files: FileStore;
  readonly dataDir: string;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits?: ContainerLimits | undefined;
  /** Disks of limited size. @default none: files are in plain folders */
  readonly disks?: ContainerDisks | undefined;
}

/** Limits of each container, in addition to memory. */
export interface ContainerLimits {
  /** Limit in bytes for the container's files. @default the sandbox's default */
  readonly diskBytes?: number | undefined;
  /** Maximum number of processes at the same time. @default the sandbox's default */
  readonly maxProcesses?: number | undefined;
  /** Maximum number of containers whose interpreter is open at the same time. @default from memory and cores */
  readonly maxInterpreters?: number | undefined;
  /** Maximum number of containers that have not expired. @default 10000 */
  readonly maxContainers?: number | undefined;
  /** Maximum number of files listed; code may create more. @default 10000 */
  readonly maxListedFiles?: number | undefined;
}

/** Options for creating a container. */
export interface ContainerOptions {
  readonly name: string;
  /** `"1g"`, `"4g"`, `"16g"` or `"64g"`. @default "1g" */
  readonly memoryLimit?: string | undefined;
  /** Minutes without use after which it expires. @default 20 */
  readonly expiresAfterMinutes?: number | undefined;
  /** Ids of uploaded files to copy into it. @default none */
  readonly fileIds?: readonly string[] | undefined;
  readonly networkPolicy?: NetworkPolicy | undefined;
}

/** A container in OpenAI's format. */
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

/** The result of a run and the files it created or changed. */
export type ContainerRun<Run> = Run & { readonly files: readonly ContainerFileRecord[] };

const GIBIBYTE = 2 ** 30;

/** The local provider's containers, served by routes and used by hosted tools to run code. */
export class Containers implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #limits: ContainerLimits;
  readonly #store: ContainerStore;
  readonly #files: ContainerFiles;
  readonly #processes: ContainerProcesses;
  readonly #lifecycle: ContainerLifecycle;
  readonly #uploads: FileStore;
  readonly #lostVariables = new LostVariables();
  readonly #warned = new Set<string>();

  constructor(options: ContainersOptions) {
    const { database, files, dataDir, sandbox, clock, ids, disks = null, limits = {} } = options;
    const { maxListedFiles = 10_000 } = limits;
    this.#clock = clock;
    this.#ids = ids;
    this.#limits = limits;
    this.#store = new ContainerStore(database);
    const store = new ContainerFileStore(database, ids);
    this.#files = new ContainerFiles({ store, files, clock, ids, maxListedFiles });
    this.#processes = new ContainerProcesses({
      sandbox,
      maxOpen: limits.maxInterpreters ?? chooseMaxInterpreters(readMachine()),
      onEvict: (id) => this.#lostVariables.onEvict(id),
    });
    this.#uploads = files;
    this.#lifecycle = new ContainerLifecycle({
      store: this.#store,
      dataDir,
      clock,
      disks,
      onEnd: (id) => {
        this.#files.forget(id);
        this.#lostVariables.forget(id);
        return this.#processes.end(id);
      },
    });
  }

  /** Creates a container. Its process starts on the first run. */
  async create(options: ContainerOptions): Promise<ContainerRecord> {
    const { name, memoryLimit = "1g", expiresAfterMinutes = 20, networkPolicy = null } = options;
    if (!MEMORY_TIERS.includes(memoryLimit)) {
      throw invalidValue("memory_limit", memoryLimit, MEMORY_TIERS);
    }
    this.#checkCount();
    const fileIds = new Set(options.fileIds);
    for (const fileId of fileIds) this.#files.getCopyName(fileId, "file_ids");
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
    await this.#lifecycle.add(container, async (root) => {
      for (const fileId of fileIds) await this.#files.copy({ id, root }, fileId);
    });
    return toContainerRecord(container);
  }

  /** Returns one page of all containers, or of those with one name. Like OpenAI, reports each as active now. */
  list(query: PageQuery, name?: string): ListPage<ContainerRecord> {
    const { containers, hasMore } = this.#store.list(query, name);
    const lastActiveAt = this.#clock.now();
    const records = containers.map((one) =>
      toContainerRecord({ ...this.#lifecycle.refresh(one), lastActiveAt }),
    );
    return toPage(records, hasMore);
  }

  /** Returns the container. Extends its life if it has not expired. */
  retrieve(id: string): ContainerRecord {
    if (!this.#lifecycle.find(id).expired) this.#lifecycle.touch(id);
    return toContainerRecord(this.#lifecycle.find(id));
  }

  /** Throws OpenAI's error if the container does not exist or has expired. */
  check(id: string): void {
    this.#lifecycle.requireLive(id);
  }

  /** Deletes the container with its files and its process. */
  delete(id: string): Promise<void> {
    return this.#lifecycle.delete(id);
  }

  /** Expires the container now. */
  expire(id: string): Promise<void> {
    return this.#lifecycle.expire(id);
  }

  /** Stores a file uploaded directly to the container. */
  upload(id: string, file: UploadedFile): Promise<ContainerFileRecord> {
    return this.#lifecycle.use(id, () => this.#files.upload(this.#getFolder(id), file));
  }

  /** Copies an uploaded file into the container. */
  copyFile(id: string, fileId: string): Promise<ContainerFileRecord> {
    return this.#lifecycle.use(id, () => this.#files.copy(this.#getFolder(id), fileId));
  }

  /** Copies files of a conversation's input into the container, each one once. */
  addInputs(id: string, files: readonly InputFile[]): Promise<void> {
    return this.#lifecycle.use(id, () => this.#files.addInputs(this.#getFolder(id), files));
  }

  /** Returns one page of the files that users uploaded and code created. */
  async listFiles(id: string, query: PageQuery): Promise<ListPage<ContainerFileRecord>> {
    const found = await this.#lifecycle.use(id, () => this.#files.list(this.#getFolder(id), query));
    return toPage(found.records, found.hasMore);
  }

  /** Returns one file. */
  retrieveFile(id: string, fileId: string): Promise<ContainerFileRecord> {
    return this.#lifecycle.use(id, () => this.#files.retrieve(this.#getFolder(id), fileId));
  }

  /** Returns the id of the container that has a file, or `null`. */
  findContainer(fileId: string): string | null {
    return this.#files.findContainer(fileId);
  }

  /** Opens one file. The caller closes it. */
  async openFile(id: string, fileId: string): Promise<OpenedFile> {
    const opened: OpenedFile[] = [];
    try {
      return await this.#lifecycle.use(id, async () => {
        const file = await this.#files.open(this.#getFolder(id), fileId);
        opened.push(file);
        return file;
      });
    } catch (error) {
      for (const { handle } of opened) await handle.close(); // the container has ended in the meantime
      throw error;
    }
  }

  /** Deletes one file. */
  deleteFile(id: string, fileId: string): Promise<void> {
    return this.#lifecycle.use(id, () => this.#files.delete(this.#getFolder(id), fileId));
  }

  /** Runs statements in the container's single interpreter. */
  async python(id: string, code: string, limits: RunLimits): Promise<ContainerRun<PythonRun>> {
    const run = await this.#run(id, limits, (process) => process.python(code, limits));
    return this.#lostVariables.report(id, run);
  }

  /**
   * Returns how many bytes of memory a container gets instead of its limit, such as `"64g"`, if this machine cannot give
   * that much now. Otherwise returns `null`.
   */
  findReducedMemory(memoryLimit: string): number | null {
    const asked = toBytes(memoryLimit);
    const given = reduceMemory(asked, readMachine());
    return given < asked ? given : null;
  }

  /** Runs a shell command on the same files. */
  shell(id: string, command: string, limits: RunLimits): Promise<ContainerRun<ShellRun>> {
    return this.#run(id, limits, (process) => process.shell(command, limits));
  }

  /** Kills every process. Containers and their files remain for the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#processes[Symbol.asyncDispose]();
    await this.#lifecycle[Symbol.asyncDispose]();
  }

  async #run<Run extends object>(
    id: string,
    { signal }: RunLimits,
    work: (process: SandboxProcess) => Promise<Run>,
  ): Promise<ContainerRun<Run>> {
    this.#uploads.checkSpace(0);
    return await this.#lifecycle.use(id, (container) => {
      const createOptions = () => this.#createSandboxOptions(container);
      return this.#processes.run(id, { signal, createOptions }, (process) => {
        signal?.throwIfAborted();
        return this.#files.trackChanges(this.#getFolder(id), () => work(process));
      });
    });
  }

  #createSandboxOptions({ id, memoryLimit }: StoredContainer): SandboxOptions {
    const { diskBytes, maxProcesses } = this.#limits;
    const reduced = this.findReducedMemory(memoryLimit);
    if (reduced !== null) this.#warn(memoryLimit, reduced);
    const memoryBytes = reduced ?? toBytes(memoryLimit);
    return { root: this.#lifecycle.getRoot(id), memoryBytes, diskBytes, maxProcesses };
  }

  /** Warns once per tier. */
  #warn(tier: string, bytes: number): void {
    if (this.#warned.has(tier)) return;
    this.#warned.add(tier);
    const message = `Containers with the memory limit ${tier} get ${Math.floor(bytes / 2 ** 20)} MiB: this machine has no more to give.`;
    process.emitWarning(message, "WinkWarning");
  }

  #checkCount(): void {
    const { maxContainers = 10_000 } = this.#limits;
    if (this.#store.countLive() < maxContainers) return;
    const message = `${maxContainers} containers exist, which is the maximum. Delete one, wait until one expires, or raise limits.maxContainers of the LocalProvider.`;
    throw new ApiProblem(429, message, { code: "too_many_containers", type: "requests" });
  }

  #getFolder(id: string): ContainerFolder {
    return { id, root: this.#lifecycle.getRoot(id) };
  }
}

function toBytes(memoryLimit: string): number {
  return Number.parseInt(memoryLimit, 10) * GIBIBYTE;
}

function toContainerRecord(container: StoredContainer): ContainerRecord {
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
