import { realpath } from "node:fs/promises";
import { type Clock, systemClock } from "../../../base/clock.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../../base/errors.ts";
import { toContainerLimits } from "../container-limits.ts";
import { isBoundedFolder } from "../is-bounded-folder.ts";
import { requireEnforced } from "../require-enforced.ts";
import type { LimitReport, Sandbox, SandboxOptions, SandboxProcess } from "../sandbox.ts";
import { SupervisedProcess } from "../supervised/supervised-process.ts";
import type { EngineClient } from "./call-engine.ts";
import { chooseUser } from "./choose-user.ts";
import { sweepContainers } from "./container-name.ts";
import { DockerLauncher } from "./docker-launcher.ts";
import { DEFAULT_IMAGE, findImage } from "./find-image.ts";
import { readEngineInfo } from "./read-engine-info.ts";
import { type PreparedEngine, tryEngine } from "./try-engine.ts";

/** Options of {@link dockerSandbox}. */
export interface DockerSandboxOptions {
  /** The container engine. */
  readonly engine: "docker" | "podman";
  /** Path of the engine's client, or its name in `PATH`. @default the engine's name */
  readonly program?: string | undefined;
  /**
   * The image for containers: Linux with `python3`, a shell and `env` in `/usr/bin`. It must be present, because
   * the sandbox never pulls. @default the variable `WINK_SANDBOX_IMAGE`, or `"python:3.13-slim"`
   */
  readonly image?: string | undefined;
  /** Milliseconds that code may take to stop after its timeout before its interpreter is killed. @default 1000 */
  readonly graceMs?: number | undefined;
  /** Milliseconds that the engine may take to start a container. @default 60000 */
  readonly startTimeoutMs?: number | undefined;
  /** Clock for timeouts. @default systemClock */
  readonly clock?: Clock | undefined;
}

/**
 * Creates a sandbox from containers of Docker or Podman: CPython and a shell from an image of your choice, no
 * network, a read-only root, no capabilities.
 *
 * @example
 * ```ts
 * import { dockerSandbox, LocalProvider } from "weakincentives/local";
 *
 * const sandbox = dockerSandbox({ engine: "podman", image: "python:3.13-slim" });
 * await using provider = new LocalProvider({ sandbox });
 * ```
 */
export function dockerSandbox(options: DockerSandboxOptions): Sandbox {
  checkKnownKeys(options, "dockerSandbox", dockerKeys);
  const { engine, clock = systemClock, graceMs = 1_000, startTimeoutMs = 60_000 } = options;
  if (engine !== "docker" && engine !== "podman")
    throw refuse("engine", engine, "must name a container engine", 'use "docker" or "podman"');
  const client: EngineClient = { engine, program: options.program ?? engine };
  const imageName = checkImageName(
    options.image ?? (process.env["WINK_SANDBOX_IMAGE"] || DEFAULT_IMAGE),
  );
  let preparation: Promise<PreparedEngine | string> | null = null;
  let report: LimitReport | null = null;

  /** Asks the engine once. A problem is not remembered: the user may solve it. */
  async function prepare(): Promise<PreparedEngine | string> {
    preparation ??= prepareEngine(client, imageName);
    const prepared = await preparation;
    if (typeof prepared === "string") preparation = null;
    return prepared;
  }

  /** Throws unless the kernel enforces every limit, as a trial showed. */
  async function checkEnforced(isDiskBounded: boolean): Promise<void> {
    const { limits = WATCHED } = report ? { limits: report } : await sandbox.probe();
    requireEnforced({ ...limits, disk: isDiskBounded ? "enforced" : "watched" });
  }

  async function open(container: SandboxOptions): Promise<SandboxProcess> {
    const root = await realpath(container.root);
    const prepared = await prepare();
    container.signal?.throwIfAborted();
    if (typeof prepared === "string") throw new Error(`The sandbox did not start: ${prepared}`);
    const { image, info } = prepared;
    const user = chooseUser(info, root);
    const limits = toContainerLimits(container);
    const disk = await isBoundedFolder(root, limits.diskBytes);
    if (container.require === "enforced") await checkEnforced(disk);
    const settings = { client, info, user, root, limits, clock, startTimeoutMs };
    const launcher = new DockerLauncher({ ...settings, image: image.id, arch: image.arch });
    const enforced = { memory: false, processes: false, disk };
    const supervised = { launcher, root, limits, enforced, owner: user.owner };
    return new DockerProcess(new SupervisedProcess(supervised, { clock, graceMs }), launcher);
  }

  const sandbox: Sandbox = Object.freeze({
    name: engine,
    isolation:
      `A container of ${engine === "docker" ? "Docker" : "Podman"}: no network, no host files, no capabilities, a read-only ` +
      "image, limits on memory, disk, processes and time. Outside a virtual machine, the kernel is shared with the host.",
    open,
    async probe() {
      const prepared = await prepare();
      if (typeof prepared === "string") return { usable: false, reason: prepared };
      const probe = await tryEngine(client, prepared, open);
      report = probe.limits ?? report;
      return probe;
    },
  });
  return sandbox;
}

const refuse = InvalidOptionError.at("dockerSandbox");

const dockerKeys: KnownKeys<DockerSandboxOptions> = {
  clock: true,
  engine: true,
  graceMs: true,
  image: true,
  program: true,
  startTimeoutMs: true,
};

const WATCHED: LimitReport = {
  memory: "watched",
  processes: "watched",
  disk: "watched",
  means: "the engine's trial run failed",
};

async function prepareEngine(
  client: EngineClient,
  imageName: string,
): Promise<PreparedEngine | string> {
  const info = await readEngineInfo(client);
  if (typeof info === "string") return info;
  const [image] = await Promise.all([findImage(client, imageName), sweepContainers(client)]);
  return typeof image === "string" ? image : { info, image };
}

/** A name that begins with a dash would be an option of the engine's client. */
function checkImageName(name: unknown): string {
  if (typeof name === "string" && /^[A-Za-z0-9][\w./:@-]*$/.test(name)) return name;
  throw refuse(
    "image",
    name,
    "must be the name of an image",
    `use a name such as "${DEFAULT_IMAGE}"`,
  );
}

/** A container's process. Disposing of it also waits for containers that are removed by force. */
class DockerProcess implements SandboxProcess {
  readonly #process: SupervisedProcess;
  readonly #launcher: DockerLauncher;
  readonly python: SandboxProcess["python"];
  readonly shell: SandboxProcess["shell"];

  constructor(process: SupervisedProcess, launcher: DockerLauncher) {
    this.#process = process;
    this.#launcher = launcher;
    this.python = (code, limits) => process.python(code, limits);
    this.shell = (command, limits) => process.shell(command, limits);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
    await this.#launcher[Symbol.asyncDispose]();
  }
}
