import { openAsBlob } from "node:fs";
import { basename, join } from "node:path";
import { WinkError } from "../../base/errors.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import { type ContainerFile, isContainerGone } from "../http/container-calls.ts";
import { ListedFiles, ownPlace, pathBelowRoot } from "./listed-files.ts";
import type { FillStep, Placement, PlacementParts, Pulled } from "./placement.ts";
import { PATHS_FILE } from "./python-snippets.ts";
import { eachFew } from "./transfers.ts";
import type { TransferStep } from "./workspace-connection.ts";

/**
 * The files one by one, under the flat names that the provider gives them; a list that is uploaded
 * with them says which is which. To write is to upload anew and then to delete what was there.
 */
export class FlatPlacement implements Placement {
  readonly writesThrough = true;
  readonly #parts: PlacementParts;
  /** Where each path is. */
  #files = new Map<string, ContainerFile>();
  /** Which path is at each place. */
  #places = new Map<string, string>();
  #known = new Map<string, string>();
  #listed: ListedFiles;
  readonly #tarballPath: string | null;
  /** What the archive holds. */
  #base: ReadonlyMap<string, string> = new Map();
  #list: { readonly file: ContainerFile; readonly text: string } | null = null;

  /** `tarballPath`: an archive that every container gets as it is; its files are not uploaded. */
  constructor(parts: PlacementParts, tarballPath?: string | undefined) {
    this.#parts = parts;
    this.#tarballPath = tarballPath ?? null;
    this.#listed = new ListedFiles(parts);
  }

  async fill(step: FillStep): Promise<number> {
    this.#files = new Map();
    this.#places = new Map();
    this.#known = new Map();
    this.#listed = new ListedFiles(this.#parts);
    this.#list = null;
    step.report("uploading");
    if (this.#tarballPath !== null) await this.#uploadTarball(this.#tarballPath, step);
    const digests = await this.#parts.mirror.digests(step.signal);
    await eachFew(digests, async ([path, digest]) => {
      if (this.#base.get(path) === digest) this.#known.set(path, digest);
      else await this.#put(path, digest, step);
    });
    await this.#tell(step);
    return digests.size;
  }

  async push(touched: ReadonlySet<string>, step: TransferStep): Promise<void> {
    const paths = [...touched].filter((path) => !path.endsWith("/")); // there are no folders
    await eachFew(paths, async (path) => {
      const digest = await this.#parts.mirror.digestOf(path);
      if (digest === (this.#known.get(path) ?? null)) return;
      if (digest === null || digest === "folder") await this.#remove(path, step);
      else await this.#put(path, digest, step);
    });
  }

  async pull(touched: ReadonlySet<string>, step: TransferStep): Promise<Pulled> {
    const places = {
      pathOf: (file: ContainerFile) => this.#places.get(file.path) ?? pathBelowRoot(file),
      placeOf: (path: string) =>
        this.#files.get(path)?.path ?? (this.#base.has(path) ? null : ownPlace(path)),
    };
    const pulled = await this.#listed.pull(this.#known, touched, step, places);
    this.#known = new Map(pulled.now);
    // What code made is from now on as what we brought: it can be replaced, and deleted.
    const known = [...this.#files].filter(([path]) => pulled.now.has(path));
    this.#files = new Map([...known, ...pulled.listed]);
    this.#places = new Map([...this.#files].map(([path, file]) => [file.path, path]));
    return pulled;
  }

  async notes(step: TransferStep): Promise<readonly string[]> {
    await this.#tell(step);
    return [];
  }

  heard(): void {}

  async #uploadTarball(path: string, { containerId, signal }: FillStep): Promise<void> {
    const { mirror, connection } = this.#parts;
    this.#base = mirror.original.size > 0 ? mirror.original : await mirror.digests();
    const file = new File([await openAsBlob(path)], basename(path));
    await connection.send((calls) => calls.upload(containerId, file, { signal }), signal);
  }

  async #put(path: string, digest: string, step: TransferStep): Promise<void> {
    const bytes = await openAsBlob(join(this.#parts.mirror.root, path));
    const file = await this.#upload(new File([bytes], basename(path)), path, step);
    this.#listed.sent(file);
    await this.#remove(path, step);
    this.#files.set(path, file);
    this.#places.set(file.path, path);
    this.#known.set(path, digest);
  }

  async #remove(path: string, step: TransferStep): Promise<void> {
    const old = this.#files.get(path);
    this.#known.delete(path);
    if (!old) return;
    await this.#delete(old, step);
    this.#files.delete(path);
    this.#places.delete(old.path);
  }

  /** Where each file is, if that is not what was said last. */
  async #tell(step: TransferStep): Promise<void> {
    const all = [...this.#files].map(([path, file]) => [path, file.path] as const);
    const places = all.filter(([path, place]) => place !== ownPlace(path)).sort();
    const text = JSON.stringify(Object.fromEntries(places), null, 1);
    const before = this.#list;
    if (before?.text === text) return;
    const file = await this.#upload(new File([text], PATHS_FILE), PATHS_FILE, step);
    this.#list = { file, text };
    if (before) await this.#delete(before.file, step);
  }

  async #upload(file: File, path: string, step: TransferStep): Promise<ContainerFile> {
    const { containerId, signal } = step;
    const { connection } = this.#parts;
    try {
      return await connection.send((calls) => calls.upload(containerId, file, { signal }), signal);
    } catch (error) {
      if (isContainerGone(error) || !isRefusal(error)) throw error;
      const problem = `${JSON.stringify(path)} was refused by the provider: ${error.message}`;
      const remedy = 'exclude it, or unpack by "bootstrap", which sends one archive';
      throw new WinkError(`${problem}: ${remedy}`, { cause: error });
    }
  }

  async #delete({ id }: ContainerFile, { containerId, signal }: TransferStep): Promise<void> {
    const { connection } = this.#parts;
    await connection.send((calls) => calls.removeFile(containerId, id, { signal }), signal);
  }
}

function isRefusal(error: unknown): error is OpenAIRequestError {
  return error instanceof OpenAIRequestError && (error.status === 400 || error.status === 415);
}
