import { readString } from "../../base/json.ts";
import type { ContainerOptions } from "../../tools/hosted/code-interpreter.ts";
import type { NetworkPolicy } from "../../tools/hosted/network-policy.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireContainerOptions, WireItem, WireNetworkPolicy } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";

/** The fields of a type, each optional and never `undefined`. */
export type DefinedFields<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** Removes fields whose value is `undefined`, which JSON cannot express. */
export function omitUndefined<Fields extends object>(fields: Fields): DefinedFields<Fields>;
export function omitUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

type CodecCall<Output, Name extends "calls" | "delegatedCalls"> = ReturnType<
  NonNullable<HostedToolCodec<object, Output>[Name]>
>[number];

/** A call that the provider ran, as a codec reports it. */
export type CodecHostedCall<Output> = CodecCall<Output, "calls">;

/** A call that the provider delegates to this package, as a codec reports it. */
export type CodecDelegatedCall<Output> = CodecCall<Output, "delegatedCalls">;

/** The outcome of a delegated call. */
export type CallOutcome<Output> = Awaited<ReturnType<CodecDelegatedCall<Output>["run"]>>;

/** The context passed to a delegated call when it runs. */
export type CallContext = Parameters<CodecDelegatedCall<unknown>["run"]>[0];

/** Returns the fields that identify a call and its tool. */
export function identifyCall(item: WireItem, { name, kind }: HostedTool) {
  return { name, kind, callId: getCallId(item), raw: item };
}

/** Returns a call's id. Most calls that the provider runs have no `call_id`. */
export function getCallId(item: WireItem): string {
  return readString(item, "call_id") || readString(item, "id");
}

/** Whether a call failed. Successful responses may have other statuses, such as `"searching"`. */
export function hasFailed(status: string): boolean {
  return status === "failed" || status === "incomplete";
}

/** Describes a failure for which the provider gives no reason. */
export function describeFailure(status: string): string {
  return `Failed (status ${JSON.stringify(status)})`;
}

/** Converts a new container's options to the API's format. */
export function toWireContainerOptions({
  memoryLimit,
  fileIds,
  networkPolicy,
}: ContainerOptions): WireContainerOptions {
  return omitUndefined({
    memory_limit: memoryLimit,
    file_ids: fileIds,
    network_policy: networkPolicy && toWirePolicy(networkPolicy),
  });
}

function toWirePolicy(policy: NetworkPolicy): WireNetworkPolicy {
  if (policy.type === "disabled") return { type: "disabled" };
  const { type, allowedDomains, domainSecrets } = policy;
  return {
    type,
    allowed_domains: allowedDomains,
    ...omitUndefined({ domain_secrets: domainSecrets }),
  };
}
