import { existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DiskSupport } from "../../sandbox/combine-limits.ts";
import { createDisk, DISK, remountDisk, unmountDisk } from "./disk.ts";
import { findDiskSupport } from "./find-disk-support.ts";
import { listMounts } from "./list-mounts.ts";
import { unmountBelow } from "./unmount-below.ts";

/** Options of {@link ContainerDisks}. */
export interface ContainerDisksOptions {
  /** The provider's data folder. */
  readonly dataDir: string;
  /** Space for the files of each container. */
  readonly bytes: number;
  /** Whether disks work on this host. @default a trial, once per process */
  readonly support?: (() => Promise<DiskSupport>) | undefined;
}

/**
 * Disks of containers: each is a file system in an image file of limited size, so a container cannot use more
 * of the host's disk than that. Disks are unmounted when the provider is disposed of and mounted again on
 * first use after the next start.
 */
export class ContainerDisks implements AsyncDisposable {
  readonly #containers: string;
  readonly #spares: string;
  readonly #bytes: number;
  readonly #findSupport: () => Promise<DiskSupport>;
  /** For each container with a disk, its mounting; `null` if it is mounted, `undefined` if it was not tried yet. */
  readonly #mounting = new Map<string, Promise<void> | null | undefined>();
  readonly #adding = new Set<Promise<boolean>>();
  readonly #swept: Promise<void>;
  /** A disk that is ready for the next container, because creating one takes as long as starting Python. */
  #spare: Promise<string> | null = null;
  #created = 0;
  #isDisposed = false;

  constructor({ dataDir, bytes, support = findDiskSupport }: ContainerDisksOptions) {
    mkdirSync(join(dataDir, "containers"), { recursive: true, mode: 0o700 });
    const folder = realpathSync(dataDir);
    this.#containers = join(folder, "containers");
    this.#spares = join(folder, "disks");
    this.#bytes = bytes;
    this.#findSupport = support;
    const mounts = new Set(listMounts(this.#containers));
    for (const id of readdirSync(this.#containers)) {
      if (!existsSync(join(this.#containers, id, DISK.image))) continue;
      const isMounted = mounts.has(join(this.#containers, id, DISK.mount));
      this.#mounting.set(id, isMounted ? null : undefined);
    }
    this.#swept = this.#removeSpares();
  }

  /** Returns the folder with the container's files, or `null` if the container has no disk. */
  getRoot(id: string): string | null {
    return this.#mounting.has(id) ? join(this.#containers, id, DISK.mount, DISK.data) : null;
  }

  /** Gives a new container a disk. Returns `false` if this host has no disks. Throws if it cannot be created. */
  async add(id: string): Promise<boolean> {
    const adding = this.#add(id);
    this.#adding.add(adding);
    try {
      return await adding;
    } finally {
      this.#adding.delete(adding);
    }
  }

  /** Whether the container's files can be used without calling {@link ContainerDisks.mount}. */
  isReady(id: string): boolean {
    return !this.#mounting.has(id) || this.#mounting.get(id) === null;
  }

  /** Mounts the disk of a container from an earlier start. All callers share the attempt; a later call retries. */
  async mount(id: string): Promise<void> {
    if (this.isReady(id)) return;
    const mounting = this.#mounting.get(id) ?? remountDisk(join(this.#containers, id));
    this.#mounting.set(id, mounting);
    try {
      await mounting;
      this.#mounting.set(id, null);
    } catch (error) {
      this.#mounting.set(id, undefined);
      throw error;
    }
  }

  /** Unmounts a container's disk so that its folder can be removed. */
  async release(id: string): Promise<void> {
    await this.#mounting.get(id)?.catch(() => undefined); // already reported to the caller
    await unmountBelow(join(this.#containers, id));
    this.#mounting.delete(id);
  }

  /** Unmounts all disks. Their files remain for the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await Promise.allSettled(this.#adding);
    await this.#spare?.catch(() => undefined); // it removes itself
    await this.#removeSpares();
    await Promise.all(
      [...this.#mounting].map(async ([id, mounting]) => {
        await mounting?.catch(() => undefined);
        await unmountDisk(join(this.#containers, id, DISK.mount));
      }),
    );
  }

  async #add(id: string): Promise<boolean> {
    if (!(await this.#findSupport()).usable) return false;
    this.#throwIfDisposed();
    const place = join(this.#containers, id);
    const spare = this.#spare ?? this.#prepareSpare();
    this.#spare = null;
    try {
      await rename(await spare, place);
    } catch {
      await rename(await this.#prepareSpare(), place);
    }
    this.#spare ??= this.#prepareSpare();
    this.#spare.catch(() => {}); // the next container tries again and reports it
    this.#mounting.set(id, null);
    return true;
  }

  async #prepareSpare(): Promise<string> {
    await this.#swept;
    const folder = join(this.#spares, `spare-${++this.#created}`);
    try {
      this.#throwIfDisposed();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await createDisk(folder, this.#bytes);
      return folder;
    } catch (error) {
      await unmountBelow(folder);
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  #throwIfDisposed(): void {
    if (this.#isDisposed) throw new Error("The disks of the containers were disposed of.");
  }

  /** Removes spare disks, at the start those that a killed process left behind. */
  async #removeSpares(): Promise<void> {
    await unmountBelow(this.#spares);
    await rm(this.#spares, { recursive: true, force: true });
  }
}
