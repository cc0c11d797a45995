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

/** An evaluation whose calls may change the files of a workspace. */
export interface FileKeeper extends EventPublisher {
  /** Whether each step is stored before its effects. */
  readonly isDurable: boolean;
  /** Keeps the files of the prompt's workspace. @default the client has none */
  readonly keepFiles?: (() => Promise<WorkspaceManifest | null>) | undefined;
}

/**
 * Publishes `ToolInvoked`. In a stored session, the files that the call may have changed are kept first, and both
 * are in one record: a call that counts as answered has its files, and one that runs again starts without them.
 * Params and values that are not JSON are converted there; the model and the caller get them as they are.
 */
export async function publishInvocation(
  evaluation: FileKeeper,
  invocation: Invocation,
): Promise<void> {
  const isStorable = !evaluation.session.isStored || findJsonProblem(invocation) === null;
  const event = isStorable ? invocation : toStorable(invocation);
  const kept = evaluation.isDurable ? await evaluation.keepFiles?.() : null;
  publishEvent(evaluation, { type: "ToolInvoked", ...event }, ...toKeptEvents(kept));
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
