import { deepFreeze } from "../../base/freeze.ts";
import { checkKeys, enumCheck, integerCheck, optional } from "../../tools/config-checks.ts";
import type { MemoryLimit } from "../../tools/hosted/code-interpreter.ts";
import { checkNetworkPolicy, type NetworkPolicy } from "../../tools/hosted/network-policy.ts";
import { toWireContainerOptions } from "../codecs/codec-call.ts";
import type { NewContainer } from "../http/client.ts";

/** Configures the container of a workspace. */
export interface ContainerConfig {
  /** The container's memory, which cannot change later. @default "4g" */
  readonly memoryLimit?: MemoryLimit | undefined;
  /**
   * `"explicit"`: the adapter creates the container. `"auto"`: the provider creates it when code first
   * runs; not allowed with mounts. @default "explicit"
   */
  readonly mode?: "auto" | "explicit" | undefined;
  /** Minutes without use after which the provider deletes the container. @default 20 */
  readonly expiresAfterMinutes?: number | undefined;
  /** The hosts that code may connect to. @default no network */
  readonly networkPolicy?: NetworkPolicy | undefined;
}

/** A validated and frozen `ContainerConfig` with its defaults filled in. */
export interface ContainerSettings {
  readonly memoryLimit: MemoryLimit;
  readonly mode: "auto" | "explicit";
  readonly expiresAfterMinutes: number;
  readonly networkPolicy: NetworkPolicy | null;
  /** The body of the request that creates the container, without the name. */
  readonly request: Omit<NewContainer, "name">;
}

/** Validates a config and fills in the defaults. */
export function resolveContainerSettings(
  config: ContainerConfig = {},
  field = "containerConfig",
  fileIds: readonly string[] = [],
): ContainerSettings {
  checkKeys<ContainerConfig>(config, field, {
    memoryLimit: optional(enumCheck(["1g", "4g", "16g", "64g"])),
    mode: optional(enumCheck(["auto", "explicit"])),
    expiresAfterMinutes: optional(integerCheck(1)),
    networkPolicy: optional(checkNetworkPolicy),
  });
  const { memoryLimit = "4g", mode = "explicit", expiresAfterMinutes = 20 } = config;
  const networkPolicy = structuredClone(config.networkPolicy ?? null);
  const request = {
    ...toWireContainerOptions({
      memoryLimit,
      networkPolicy: networkPolicy ?? undefined,
      fileIds: fileIds.length > 0 ? [...fileIds] : undefined,
    }),
    expires_after: { anchor: "last_active_at" as const, minutes: expiresAfterMinutes },
  };
  return deepFreeze({ memoryLimit, mode, expiresAfterMinutes, networkPolicy, request });
}
