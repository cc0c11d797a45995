import { PromptValidationError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { HostMount } from "../../files/mounts/host-mount.ts";
import {
  type Checks,
  checkKeys,
  checkNotEmpty,
  checkText,
  checkType,
  elsewhere,
  integerFrom,
  listOf,
  oneOf,
  optional,
} from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";
import type { ContainerFileCitation } from "./citation.ts";
import { checkNetworkPolicy, type NetworkPolicy } from "./network-policy.ts";

/** What the model's code may use. */
export interface CodeInterpreterConfig {
  /** @default ["python"] */
  readonly allowedLanguages?: readonly string[] | undefined;
  /** Advice: no provider promises to keep it. @default 30 */
  readonly timeoutSeconds?: number | undefined;
  /** Where the code runs. @default a new container */
  readonly container?: AutoContainerConfig | ExistingContainerRef | undefined;
}

/** What a container that is yet to be made may be given. */
export interface ContainerOptions {
  /** Fixed for the container's life. @default "1g" */
  readonly memoryLimit?: MemoryLimit | undefined;
  /** Uploaded files to copy into it; at most 50. */
  readonly fileIds?: readonly string[] | undefined;
  /** @default no network */
  readonly networkPolicy?: NetworkPolicy | undefined;
}

/** A container that the provider makes, or one it made earlier in the same conversation. */
export interface AutoContainerConfig extends ContainerOptions {
  readonly type: "auto";
  /** Files of this machine; they are uploaded first. */
  readonly hostMounts?: readonly HostMount[] | undefined;
  /** Folders that mounts may come from; `"any"`: from anywhere. */
  readonly allowedHostRoots?: readonly string[] | "any" | undefined;
}

/** A container the caller made. It is never replaced. */
export interface ExistingContainerRef {
  readonly id: string;
  /** What it was made with. */
  readonly memoryLimit?: MemoryLimit | undefined;
}

/** The sizes of container there are. */
export type MemoryLimit = "1g" | "4g" | "16g" | "64g";

/** What all code of an evaluation did; `code` to `exitCode` are the last call's. */
export interface CodeInterpreterResult {
  /** What the model said. */
  readonly text: string;
  readonly code: string;
  readonly stdout: string;
  readonly stderr: string;
  /** `null` if the provider does not say. */
  readonly exitCode: number | null;
  readonly calls: readonly CodeInterpreterCall[];
  /** Files that the code made and the model cites. */
  readonly files: readonly ContainerFileCitation[];
}

/** One piece of code that ran. */
export interface CodeInterpreterCall {
  readonly id: string;
  readonly code: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  /** Addresses of images that were drawn. */
  readonly images: readonly string[];
  readonly containerId: string;
  /** In the provider's word. */
  readonly status: string;
}

/** A tool by which the model runs code of its own in a container at the provider. */
export function codeInterpreterTool(
  config: CodeInterpreterConfig = {},
  { name = "code_interpreter" }: { readonly name?: string | undefined } = {},
): HostedTool<CodeInterpreterConfig, CodeInterpreterResult> {
  checkKeys<CodeInterpreterConfig>(config, "codeInterpreterTool(config)", {
    allowedLanguages: optional(listOf(checkText, { least: 1 })),
    timeoutSeconds: optional(integerFrom(1)),
    container: optional(checkContainer),
  });
  return markChecked(
    new HostedTool({
      kind: "code_interpreter",
      name,
      description: "Execute code in a sandboxed environment.",
      config,
    }),
  );
}

/** Refuses what is neither an `AutoContainerConfig` nor an `ExistingContainerRef`. */
export function checkContainer(container: unknown, field: string): void {
  if (!isPlainObject(container) || !("type" in container || "id" in container)) {
    const rule = "must say which container";
    const remedy = 'write { type: "auto" } for a new one, or { id: "…" } for one that exists';
    throw new PromptValidationError({ field, value: container, rule, remedy });
  }
  const { memoryLimit, fileIds, networkPolicy } = containerChecks();
  if (!("type" in container)) {
    checkKeys<ExistingContainerRef>(container, field, { id: checkText, memoryLimit });
    return;
  }
  checkType(container, field, ["auto"]);
  checkKeys<AutoContainerConfig>(container, field, {
    type: elsewhere,
    memoryLimit,
    fileIds,
    networkPolicy,
    hostMounts: optional(listOf(checkMount)),
    allowedHostRoots: optional(checkRoots),
  });
}

/** The checks of `ContainerOptions`, for whatever else makes containers. */
export function containerChecks(): Checks<ContainerOptions> {
  return {
    memoryLimit: optional(oneOf(["1g", "4g", "16g", "64g"])),
    fileIds: optional(listOf(checkText, { most: 50 })),
    networkPolicy: optional(checkNetworkPolicy),
  };
}

/** The rest is checked where the files are read, by what knows what it means. */
function checkMount(mount: unknown, field: string): void {
  checkKeys<HostMount>(mount, field, {
    hostPath: checkNotEmpty,
    mountPath: elsewhere,
    includeGlob: elsewhere,
    excludeGlob: elsewhere,
    maxBytes: elsewhere,
    followSymlinks: elsewhere,
  });
}

function checkRoots(roots: unknown, field: string): void {
  if (typeof roots === "string") oneOf(["any"])(roots, field);
  else listOf(checkNotEmpty)(roots, field);
}
