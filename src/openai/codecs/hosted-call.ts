import { textAt } from "../../base/reading.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireItem } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";

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
