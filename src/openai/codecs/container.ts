import type { ContainerOptions } from "../../tools/hosted/code-interpreter.ts";
import type { NetworkPolicy } from "../../tools/hosted/network-policy.ts";
import type { WireContainerOptions, WireNetworkPolicy } from "../wire.ts";
import { onlySet } from "./only-set.ts";

/** What a new container is given, on the wire. */
export function containerOptions({
  memoryLimit,
  fileIds,
  networkPolicy,
}: ContainerOptions): WireContainerOptions {
  return onlySet({
    memory_limit: memoryLimit,
    file_ids: fileIds,
    network_policy: networkPolicy && wirePolicy(networkPolicy),
  });
}

function wirePolicy(policy: NetworkPolicy): WireNetworkPolicy {
  if (policy.type === "disabled") return { type: "disabled" };
  const { type, allowedDomains, domainSecrets } = policy;
  return {
    type,
    allowed_domains: allowedDomains,
    ...onlySet({ domain_secrets: domainSecrets }),
  };
}
