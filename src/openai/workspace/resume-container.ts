import { PLAIN_MODE } from "../../files/archive/tar/write-tar.ts";
import type { WorkspaceKeeper } from "../../prompt/sections/workspace-keeper.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerLifecycle } from "./container-lifecycle.ts";
import type { Mirror } from "./mirror.ts";
import type { WorkspaceTransfer } from "./workspace-transfer.ts";

/** The parts of a workspace whose container another process may have used. */
export interface ResumedParts {
  readonly keeper: WorkspaceKeeper;
  readonly container: ContainerLifecycle;
  readonly mirror: Mirror;
  readonly transfer: WorkspaceTransfer;
}

/**
 * Uses the container of an earlier process again if it has the files that were last kept. Otherwise the next
 * container is filled from the mirror, and missing files are reported. `isSubmitted`: the earlier process
 * has sent a request whose code may have changed the files since. Then the container is used as it is.
 */
export async function resumeContainer(
  { keeper, container, mirror, transfer }: ResumedParts,
  { signal, isSubmitted }: { readonly signal: AbortSignal; readonly isSubmitted: boolean },
): Promise<void> {
  const earlier = keeper.earlierContainer;
  if (!earlier) {
    // Finds out which files of an earlier process are lost.
    if (!keeper.tree && keeper.mounted) await keeper.store(mirror.root, mirror.baseline);
    return;
  }
  const { containerId, hasUnfetchedChanges } = earlier;
  const isAlive = container.state === "absent" && (await container.isAlive(containerId, signal));
  const modes = listUnusualModes(keeper.tree?.files ?? mirror.baseline.files);
  const step = { containerId, signal };
  const adopt = () => transfer.adopt(isSubmitted ? null : earlier.digest, modes, step);
  if (isAlive && (await runIfPresent(() => container.transferIfPresent(adopt)))) {
    const { mounted } = keeper;
    if (!keeper.keepsFiles && mounted) mirror.setMounted(mounted);
    keeper.continueEarlier();
    container.adopt(containerId);
    if (isSubmitted) transfer.onPossibleCodeRun();
    return;
  }
  keeper.giveUpEarlier();
  if (!keeper.keepsFiles) await keeper.store(mirror.root, mirror.baseline);
  // Otherwise this process has already filled a container.
  if (container.state === "absent") {
    transfer.onEarlierLost(keeper.takeLost(), hasUnfetchedChanges);
  }
  const reason = isAlive ? "its files are not those that were last kept" : "it no longer exists";
  container.loseEarlier(containerId, reason);
}

/** Returns `false` if the container no longer exists. */
async function runIfPresent(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (isContainerGone(error)) return false;
    throw error;
  }
}

function listUnusualModes(
  files: ReadonlyMap<string, { readonly mode: number }>,
): ReadonlyMap<string, number> {
  const modes = [...files].map(([path, { mode }]) => [path, mode] as const);
  return new Map(modes.filter(([, mode]) => mode !== PLAIN_MODE));
}
