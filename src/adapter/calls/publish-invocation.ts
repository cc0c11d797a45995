import { findJsonProblem } from "../../base/json.ts";
import type { WorkspaceManifest } from "../../prompt/sections/workspace-slice.ts";
import { toJsonData } from "../../tools/tool-result.ts";
import {
  type AdapterEvent,
  type EventPublisher,
  publishEvent,
  type ToolInvoked,
} from "../events.ts";

/** The content of `ToolInvoked` for a call. */
export type Invocation = Pick<
  ToolInvoked,
  "name" | "callId" | "params" | "result" | "renderedOutput" | "usage" | "durationMs" | "origin"
>;

/**
 * Publishes `ToolInvoked`, in one record with the files that the call may have changed, if they were `kept`: a call
 * that counts as answered has its files, and one that runs again starts without them. Params and values that are not
 * JSON are converted for a stored session; the model and the caller get them as they are.
 */
export function publishInvocation(
  publisher: EventPublisher,
  invocation: Invocation,
  kept: WorkspaceManifest | null,
): void {
  const isStorable = !publisher.session.isStored || findJsonProblem(invocation) === null;
  const event = isStorable ? invocation : toStorable(invocation);
  publishEvent(publisher, { type: "ToolInvoked", ...event }, ...toKeptEvents(kept));
}

/** Returns the event for files that were kept, if any were. */
export function toKeptEvents(
  manifest: WorkspaceManifest | null | undefined,
): readonly AdapterEvent[] {
  return manifest ? [{ type: "WorkspaceKept", manifest }] : [];
}

function toStorable(invocation: Invocation): Invocation {
  const { params, result } = invocation;
  const { success, message, value, excludeValueFromContext } = result;
  const stored = { success, message, value: toJsonData(value), excludeValueFromContext };
  return { ...invocation, params: toJsonData(params), result: stored };
}
