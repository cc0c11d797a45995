import { textAt } from "../../base/reading.ts";
import type { ContainerOptions } from "../../tools/hosted/code-interpreter.ts";
import type { NetworkPolicy } from "../../tools/hosted/network-policy.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireContainerOptions, WireItem, WireNetworkPolicy } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";

/** The same fields, of which any may be absent but none `undefined`. */
export type SetFields<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** Without the fields that were left out: the wire has no `undefined`. */
export function onlySet<Fields extends object>(fields: Fields): SetFields<Fields>;
export function onlySet(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

type Part<Output, Name extends "calls" | "asked"> = ReturnType<
  NonNullable<HostedToolCodec<object, Output>[Name]>
>[number];

/** A call that the provider has run, as a codec tells of it. */
export type HostedCallOf<Output> = Part<Output, "calls">;

/** A call that the provider asks to have run here, as a codec tells of it. */
export type AskedCallOf<Output> = Part<Output, "asked">;

/** What such a call came to. */
export type OutcomeOf<Output> = Awaited<ReturnType<AskedCallOf<Output>["run"]>>;

/** What may be used to run it. */
export type CallContext = Parameters<AskedCallOf<unknown>["run"]>[0];

/** Which call of which tool it is. */
export function identityOf(item: WireItem, { name, kind }: HostedTool) {
  return { name, kind, callId: callIdOf(item), raw: item };
}

/** Most calls that the provider runs itself have no `call_id`. */
export function callIdOf(item: WireItem): string {
  return textAt(item, "call_id") || textAt(item, "id");
}

/** Other odd statuses, such as `"searching"`, are seen in responses that went well. */
export function hasFailed(status: string): boolean {
  return status === "failed" || status === "incomplete";
}

/** How a failure is told whose cause the provider does not say. */
export function failureWith(status: string): string {
  return `Failed (status ${JSON.stringify(status)})`;
}

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
