import { checkKnownKeys, PromptValidationError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { HostMount } from "../../files/mounts/host-mount.ts";
import {
  arrayCheck,
  type Checks,
  checkBoolean,
  checkKeys,
  checkNotEmpty,
  checkSingleLine,
  checkType,
  deferCheck,
  enumCheck,
  integerCheck,
  optional,
} from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";
import type { ContainerFileCitation } from "./citation.ts";
import { checkNetworkPolicy, type NetworkPolicy } from "./network-policy.ts";

/** Settings of {@link codeInterpreterTool}. */
export interface CodeInterpreterConfig {
  /** Languages that the model may use. @default ["python"] */
  readonly allowedLanguages?: readonly string[] | undefined;
  /**
   * Longest run of one call, in seconds. The local provider enforces it: a run that takes longer is
   * interrupted and fails, and the container survives. OpenAI has no such limit: there it is only
   * advice to the model, which the prompt contains if you set it. Has no effect on Claude. @default 30
   */
  readonly timeoutSeconds?: number | undefined;
  /** Container in which the code runs. @default a new container */
  readonly container?: AutoContainerConfig | ExistingContainerRef | undefined;
}

/** Settings of a container that is yet to be created. */
export interface ContainerOptions {
  /** Memory of the container; cannot be changed after its creation. @default "1g" */
  readonly memoryLimit?: MemoryLimit | undefined;
  /** Ids of uploaded files to copy into the container; at most 50. */
  readonly fileIds?: readonly string[] | undefined;
  /** Network access of the container. @default no network */
  readonly networkPolicy?: NetworkPolicy | undefined;
}

/** A container that the provider creates, or reuses from earlier in the same conversation. */
export interface AutoContainerConfig extends ContainerOptions {
  /** Lets the provider create the container. */
  readonly type: "auto";
  /** Files of the host; uploaded before the first request. */
  readonly hostMounts?: readonly HostMount[] | undefined;
  /** Folders that mounts may come from; `"any"` allows every folder. */
  readonly allowedHostRoots?: readonly string[] | "any" | undefined;
}

/** A container that you created. It is never replaced. */
export interface ExistingContainerRef {
  /** Id of the container. */
  readonly id: string;
  /** Memory limit that the container was created with. */
  readonly memoryLimit?: MemoryLimit | undefined;
}

/** Available container sizes. */
export type MemoryLimit = "1g" | "4g" | "16g" | "64g";

/**
 * The outcome of all code of an evaluation. `code`, `stdout`, `stderr` and `exitCode` belong to the
 * last call. The provider reports no exit code, so it is derived: see `CodeInterpreterCall.exitCode`.
 */
export interface CodeInterpreterResult {
  /** The model's answer. */
  readonly text: string;
  /** Code of the last call. */
  readonly code: string;
  /** Everything that the last call printed, to standard output and standard error. */
  readonly stdout: string;
  /** Traceback that ended the last call; `""` if it succeeded, or if its logs end with other output. */
  readonly stderr: string;
  /** Derived exit code of the last call; `null` if it did not finish. */
  readonly exitCode: number | null;
  /** Every call, in order. */
  readonly calls: readonly CodeInterpreterCall[];
  /** Files that the code created and the model cites. */
  readonly files: readonly ContainerFileCitation[];
}

/** One execution of code. */
export interface CodeInterpreterCall {
  /** Provider's id of the call. */
  readonly id: string;
  /** Code that ran. */
  readonly code: string;
  /** Everything that the code printed, to standard output and standard error. */
  readonly stdout: string;
  /** Traceback that ended the code; `""` if it succeeded, or if the logs end with other output. */
  readonly stderr: string;
  /**
   * Exit code, derived from the status and the logs: 0 if the code completed and its logs do not end
   * with a traceback, n if they end with `SystemExit: n`, 1 for another traceback, and `null` if the
   * interpreter was killed, timed out or never finished. The call succeeded only if it is 0. A
   * traceback that the code itself printed as its very last output counts as a failure.
   */
  readonly exitCode: number | null;
  /** URLs of generated images. */
  readonly images: readonly string[];
  /** Id of the container in which the code ran. */
  readonly containerId: string;
  /** The provider's status of the call. */
  readonly status: string;
}

/**
 * Creates a tool that lets the model run its own code in a container at the provider.
 *
 * @example
 * ```ts
 * import { codeInterpreterTool, MarkdownSection } from "weakincentives";
 *
 * const section = new MarkdownSection({
 *   key: "task",
 *   title: "Task",
 *   template: "Compute the 100th prime with Python.",
 *   hostedTools: [codeInterpreterTool({ container: { type: "auto", memoryLimit: "4g" } })],
 * });
 * ```
 */
export function codeInterpreterTool(
  config: CodeInterpreterConfig = {},
  options: { readonly name?: string | undefined } = {},
): HostedTool<CodeInterpreterConfig, CodeInterpreterResult> {
  checkKnownKeys(options, "codeInterpreterTool(options)", { name: true }, PromptValidationError);
  const { name = "code_interpreter" } = options;
  checkKeys<CodeInterpreterConfig>(config, "codeInterpreterTool(config)", {
    allowedLanguages: optional(arrayCheck(checkSingleLine, { least: 1 })),
    timeoutSeconds: optional(integerCheck(1)),
    container: optional(checkContainer),
  });
  return markChecked(
    new HostedTool({
      kind: "code_interpreter",
      name,
      description: createDescription(config),
      config,
    }),
  );
}

/** The default of `timeoutSeconds`. */
export const DEFAULT_TIMEOUT_SECONDS = 30;

function createDescription({ timeoutSeconds }: CodeInterpreterConfig): string {
  const purpose = "Execute code in a sandboxed environment.";
  return timeoutSeconds === undefined ? purpose : `${purpose} ${describeTimeout(timeoutSeconds)}`;
}

/** States the longest run of one call, for the model. */
export function describeTimeout(timeoutSeconds: number): string {
  const unit = timeoutSeconds === 1 ? "second" : "seconds";
  return `Code may run for at most ${timeoutSeconds} ${unit} per call.`;
}

/** Rejects a value that is neither an `AutoContainerConfig` nor an `ExistingContainerRef`. */
export function checkContainer(container: unknown, field: string): void {
  if (!isPlainObject(container) || !("type" in container || "id" in container)) {
    const rule = 'must have a "type" or an "id"';
    const remedy = 'use { type: "auto" } for a new container, or { id: "…" } for an existing one';
    throw new PromptValidationError({ field, value: container, rule, remedy });
  }
  const { memoryLimit, fileIds, networkPolicy } = containerChecks();
  if (!("type" in container)) {
    checkKeys<ExistingContainerRef>(container, field, { id: checkSingleLine, memoryLimit });
    return;
  }
  checkType(container, field, ["auto"]);
  checkKeys<AutoContainerConfig>(container, field, {
    type: deferCheck,
    memoryLimit,
    fileIds,
    networkPolicy,
    hostMounts: optional(arrayCheck(checkMount)),
    allowedHostRoots: optional(checkRoots),
  });
}

/** Returns the checks of `ContainerOptions`, for every tool that creates containers. */
export function containerChecks(): Checks<ContainerOptions> {
  return {
    memoryLimit: optional(enumCheck(["1g", "4g", "16g", "64g"])),
    fileIds: optional(arrayCheck(checkSingleLine, { most: 50 })),
    networkPolicy: optional(checkNetworkPolicy),
  };
}

/** Checks the types of a mount's options. The code that reads the files checks the rest. */
function checkMount(mount: unknown, field: string): void {
  checkKeys<HostMount>(mount, field, {
    hostPath: checkNotEmpty,
    mountPath: optional(checkNotEmpty),
    includeGlob: optional(arrayCheck(checkNotEmpty)),
    excludeGlob: optional(arrayCheck(checkNotEmpty)),
    maxBytes: optional(integerCheck(0)),
    followSymlinks: optional(checkBoolean),
    gitignore: optional(checkBoolean),
  });
}

function checkRoots(roots: unknown, field: string): void {
  if (typeof roots === "string") enumCheck(["any"])(roots, field);
  else arrayCheck(checkNotEmpty)(roots, field);
}
