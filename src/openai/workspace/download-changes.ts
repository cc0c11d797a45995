import { getErrorMessage } from "../../base/errors.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerLifecycle } from "./container-lifecycle.ts";
import type { WorkspaceConnection } from "./workspace-connection.ts";
import type { WorkspaceTransfer } from "./workspace-transfer.ts";

/** The parts of a workspace that download the changes of code. */
export interface DownloadParts {
  readonly container: ContainerLifecycle;
  readonly transfer: WorkspaceTransfer;
  readonly connection: WorkspaceConnection;
}

/** Downloads changes if the container still exists. The changes in a lost container are lost too. */
export async function downloadChanges(parts: DownloadParts): Promise<void> {
  const { container, transfer } = parts;
  const { containerId } = container;
  if (containerId === null || !(await transfer.isStale())) return;
  try {
    await pullFrom(parts, containerId, new AbortController().signal);
  } catch (error) {
    if (!isContainerGone(error)) throw error;
    container.lose(containerId, error);
  }
}

/** Downloads changes after a turn. A failure is logged and retried later, so the answer is not lost. */
export async function downloadAfterTurn(parts: DownloadParts, signal: AbortSignal): Promise<void> {
  const { container, connection } = parts;
  const { containerId } = container;
  if (containerId === null) return;
  try {
    await pullFrom(parts, containerId, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isContainerGone(error)) container.lose(containerId, error);
    const problem = getErrorMessage(error);
    connection.logger.warn("could not download the changes that code made", { problem });
  }
}

/** Downloads changes for the last time. A lost container is not created again for it. */
export async function downloadLast({
  container,
  transfer,
}: DownloadParts): Promise<readonly SyncFailure[]> {
  const isStale = await transfer.isStale();
  const { containerId } = container;
  // A container that is still being filled has no changes to wait for.
  if (containerId === null || !isStale) return await transfer.pullLast(null);
  const { signal } = new AbortController();
  return await container.transferIfPresent((now) =>
    transfer.pullLast({ containerId: now ?? containerId, signal }),
  );
}

async function pullFrom(
  { container, transfer }: DownloadParts,
  containerId: string,
  signal: AbortSignal,
): Promise<void> {
  await container.transferIfPresent((now) =>
    transfer.pullIfStale({ containerId: now ?? containerId, signal }),
  );
}
