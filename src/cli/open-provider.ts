import { unmountBelow } from "../local/containers/disks/unmount-below.ts";
import type { LocalModel } from "../local/models/local-model.ts";
import { isTrustedModel } from "../local/models/trusted-models.ts";
import { LocalProvider } from "../local/provider.ts";
import type { LocalProviderOptions } from "../local/provider-options.ts";
import { dockerSandbox } from "../local/sandbox/docker/docker-sandbox.ts";
import type { Sandbox } from "../local/sandbox/sandbox.ts";
import { sweepTemporaryDataDirs, TemporaryDataDir } from "../local/store/temporary-data-dir.ts";
import { runAtExit } from "./end-on-signal.ts";
import { type FoundSandbox, findSandbox, type SandboxName } from "./find-sandbox.ts";
import { loadModel } from "./load-model.ts";
import type { ProviderChoice } from "./provider-choice.ts";

/** A provider for one command, which deletes its temporary data when it closes. */
export class OpenedProvider implements AsyncDisposable {
  readonly provider: LocalProvider;
  /** Display name of the model. */
  readonly modelName: string;
  readonly #model: LocalModel | undefined;
  readonly #sandbox: SandboxName | Sandbox;
  readonly #folder: Disposable | null;

  constructor(parts: {
    readonly provider: LocalProvider;
    readonly modelName: string;
    readonly model: LocalModel | undefined;
    readonly sandbox: SandboxName | Sandbox;
    readonly folder: Disposable | null;
  }) {
    this.provider = parts.provider;
    this.modelName = parts.modelName;
    this.#model = parts.model;
    this.#sandbox = parts.sandbox;
    this.#folder = parts.folder;
  }

  /** Finds the sandbox that the model's code will run in. */
  async findSandbox(): Promise<FoundSandbox> {
    const author = isTrustedModel(this.#model) ? "user" : "model";
    return await findSandbox(this.#sandbox, undefined, author);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.provider.close();
    } finally {
      this.#folder?.[Symbol.dispose]();
    }
  }
}

/** Loads the model and creates a provider with its data folder. */
export async function openProvider(
  { dataDir, sandbox: named, sandboxImage: image, model: choice, web }: ProviderChoice,
  options: Pick<
    LocalProviderOptions,
    "apiKey" | "onRequest" | "allowedHosts" | "allowedOrigins"
  > = {},
): Promise<OpenedProvider> {
  const folder = dataDir === undefined ? createDataDir() : null;
  try {
    const isEngine = named === "docker" || named === "podman";
    const sandbox = isEngine ? dockerSandbox({ engine: named, image }) : named;
    const { model, name: modelName } = await loadModel(choice);
    const settings = { model, sandbox, dataDir: folder?.path ?? dataDir, web };
    const provider = new LocalProvider({ ...options, ...settings });
    return new OpenedProvider({ provider, modelName, model, sandbox, folder });
  } catch (error) {
    folder?.[Symbol.dispose]();
    throw error;
  }
}

/** Creates a temporary data folder that is removed on disposal, or at the latest when the process exits. */
function createDataDir(): Disposable & { readonly path: string } {
  void sweepTemporaryDataDirs(unmountBelow);
  const folder = new TemporaryDataDir();
  const removal = runAtExit(() => {
    try {
      folder[Symbol.dispose]();
    } catch {
      // A container's disk is still in use. The next start removes the folder.
    }
  });
  return { path: folder.path, [Symbol.dispose]: () => removal[Symbol.dispose]() };
}
