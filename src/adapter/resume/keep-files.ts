import type { WorkspaceManifest } from "../../prompt/sections/workspace-slice.ts";
import { type AdapterEvent, type EventPublisher, publishEvent } from "../events.ts";

/** An evaluation whose calls may change the files of a workspace. */
export interface FileKeeper extends EventPublisher {
  /** Whether each step is stored before its effects. */
  readonly isDurable: boolean;
  /** Keeps the files of the prompt's workspace. @default the client has none */
  readonly keepFiles?: (() => Promise<WorkspaceManifest | null>) | undefined;
}

/**
 * Publishes an event of a call that may have changed files. In a stored session, the files are kept first, and both
 * are in one record: a call that counts as answered has its files, and one that runs again starts without them.
 */
export async function publishWithFiles(evaluation: FileKeeper, event: AdapterEvent): Promise<void> {
  const kept = evaluation.isDurable ? await evaluation.keepFiles?.() : null;
  publishEvent(evaluation, event, ...toKeptEvents(kept));
}

/** Returns the event for files that were kept, if any were. */
export function toKeptEvents(
  manifest: WorkspaceManifest | null | undefined,
): readonly AdapterEvent[] {
  return manifest ? [{ type: "WorkspaceKept", manifest }] : [];
}
