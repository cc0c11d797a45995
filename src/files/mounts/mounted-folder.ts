import { WinkError } from "../../base/errors.ts";
import {
  reserveFolder,
  sweepAbandonedFolders,
  type TemporaryFolder,
} from "../../host/temporary-folder.ts";
import { digestFiles } from "../digests/file-digests.ts";
import { HostFilesystem } from "../filesystem/host-filesystem.ts";
import { materialise } from "./materialise.ts";
import type { MountPlan } from "./planned-mounts.ts";

/** What a folder is to hold: the files of a plan, or those that another folder already has. */
export type MountedSource = { readonly plan: MountPlan } | { readonly root: string };

export interface MountedFolderOptions {
  /** Whether `original` is wanted: it takes reading them all once more. @default false */
  readonly keepsDigests?: boolean | undefined;
  /** @default a new place */
  readonly folder?: TemporaryFolder | undefined;
}

/** A temporary folder that holds the files of a plan from its first use until it is removed. */
export class MountedFolder {
  /** Where the files are. */
  readonly root: string;
  /** All that is temporary is below it. */
  readonly home: string;
  readonly #folder: TemporaryFolder;
  readonly #plan: MountPlan | null;
  readonly #keepsDigests: boolean;
  #ready: Promise<HostFilesystem> | null = null;
  #original: ReadonlyMap<string, string> = new Map();
  #sources: ReadonlyMap<string, string> | null = null;
  #isRemoved = false;

  constructor(source: MountedSource, options: MountedFolderOptions = {}) {
    const { keepsDigests = false, folder = reserveFolder() } = options;
    this.#folder = folder;
    this.#plan = "plan" in source ? source.plan : null;
    this.root = "plan" in source ? folder.files : source.root;
    this.home = folder.home;
    this.#keepsDigests = keepsDigests && this.#plan?.files.length !== 0;
  }

  /** The digests of what was copied, where they are kept. */
  get original(): ReadonlyMap<string, string> {
    return this.#original;
  }

  /** The real path of the host file that a path was copied from, if it was. */
  sourceOf(path: string): string | null {
    this.#sources ??= new Map(this.#plan?.files.map((file) => [file.mountPath, file.hostPath]));
    return this.#sources.get(path) ?? null;
  }

  /** The files, once they are copied. One that failed may be tried again. */
  async ready(): Promise<HostFilesystem> {
    if (this.#isRemoved) throw new WinkError("The workspace was cleaned up: make a new one");
    this.#ready ??= this.#copy().catch((error) => {
      this.#ready = null;
      throw error;
    });
    return await this.#ready;
  }

  /** Removes all of it. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    const host = await this.#ready?.catch(() => null);
    await host?.[Symbol.asyncDispose]();
    await this.#folder.remove();
  }

  async #copy(): Promise<HostFilesystem> {
    await sweepAbandonedFolders();
    await this.#folder.create();
    try {
      if (this.#plan) await materialise(this.#plan, { into: this.root });
      if (this.#keepsDigests) this.#original = await digestFiles(this.root);
    } catch (error) {
      await this.#folder.remove();
      throw error;
    }
    return new HostFilesystem(this.root);
  }
}
