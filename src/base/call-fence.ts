import { createAsyncContext } from "./async-context.ts";
import { WinkError } from "./errors.ts";

/**
 * Runs a tool call. If it fails or is canceled, its changes are rolled back. A handler that still
 * runs then, because it ignores its signal or did not await all its work, can change nothing more:
 * see {@link checkFence}. On runtimes without async context there is no fence.
 */
export async function runFenced<Result extends { readonly success: boolean }>(
  work: () => Promise<Result>,
): Promise<Result> {
  const fence: Fence = { isClosed: false, outer: fences.current() };
  try {
    const result = await fences.run(fence, work);
    fence.isClosed = !result.success;
    return result;
  } catch (error) {
    fence.isClosed = true;
    throw error;
  }
}

/** Throws if the current code belongs to a tool call that was rolled back. */
export function checkFence(what: string): void {
  for (let fence = fences.current(); fence; fence = fence.outer) {
    if (!fence.isClosed) continue;
    throw new WinkError(
      `${what} was refused because its tool call has ended and was rolled back. Stop when context.signal aborts, and await all work before the handler returns.`,
    );
  }
}

/** The fence of one call, and of the call whose handler started its evaluation. */
interface Fence {
  isClosed: boolean;
  readonly outer: Fence | undefined;
}

/** The fence of the tool call that the current code belongs to. It holds no state of its own. */
const fences = createAsyncContext<Fence>();
