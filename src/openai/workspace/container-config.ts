import { deepFreeze } from "../../base/freeze.ts";
import { checkKeys, integerFrom, oneOf, optional } from "../../tools/config-checks.ts";
import type { MemoryLimit } from "../../tools/hosted/code-interpreter.ts";
import { checkNetworkPolicy, type NetworkPolicy } from "../../tools/hosted/network-policy.ts";
import { containerOptions } from "../codecs/codec-parts.ts";
import type { NewContainer } from "../http/client.ts";

/** The container that a workspace is given. */
export interface ContainerConfig {
  /** Fixed for the container's life. @default "4g" */
  readonly memoryLimit?: MemoryLimit | undefined;
  /** `"auto"`: the provider makes one when code is first run. Not with mounts. @default "explicit" */
  readonly mode?: "auto" | "explicit" | undefined;
  /** How long it lives when nobody uses it. @default 20 */
  readonly expiresAfterMinutes?: number | undefined;
  /** @default no network */
  readonly networkPolicy?: NetworkPolicy | undefined;
}

/** The same with its defaults, checked and frozen. */
export interface ContainerSettings {
  readonly memoryLimit: MemoryLimit;
  readonly mode: "auto" | "explicit";
  readonly expiresAfterMinutes: number;
  readonly networkPolicy: NetworkPolicy | null;
  /** What the provider is asked for, apart from the name. */
  readonly request: Omit<NewContainer, "name">;
}

/** Checks a config and adds the defaults. */
export function containerSettings(
  config: ContainerConfig = {},
  field = "containerConfig",
  fileIds: readonly string[] = [],
): ContainerSettings {
  checkKeys<ContainerConfig>(config, field, {
    memoryLimit: optional(oneOf(["1g", "4g", "16g", "64g"])),
    mode: optional(oneOf(["auto", "explicit"])),
    expiresAfterMinutes: optional(integerFrom(1)),
    networkPolicy: optional(checkNetworkPolicy),
  });
  const { memoryLimit = "4g", mode = "explicit", expiresAfterMinutes = 20 } = config;
  const networkPolicy = structuredClone(config.networkPolicy ?? null);
  const request = {
    ...containerOptions({
      memoryLimit,
      networkPolicy: networkPolicy ?? undefined,
      fileIds: fileIds.length > 0 ? [...fileIds] : undefined,
    }),
    expires_after: { anchor: "last_active_at" as const, minutes: expiresAfterMinutes },
  };
  return deepFreeze({ memoryLimit, mode, expiresAfterMinutes, networkPolicy, request });
}
