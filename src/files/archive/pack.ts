import { PackThread } from "./pack-thread.ts";

/** What may end the packing. */
export interface PackOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The tar of a folder, made by a thread as it is read. Equal trees give equal bytes: sorted by path,
 * of 1980, owned by root, with modes 644 and 755. Cancelling it, or the signal, ends the thread.
 *
 * The stream fails with a `FilesystemError` for what is neither file nor folder or cannot be read,
 * and with the signal's reason.
 */
export function packDirectory(
  directory: string,
  { signal }: PackOptions = {},
): ReadableStream<Uint8Array> {
  const over = new AbortController();
  let thread: PackThread | undefined;
  const end = async () => {
    over.abort();
    await thread?.end();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const abort = () => {
          controller.error(signal?.reason);
          return end();
        };
        if (signal?.aborted) return abort();
        return signal?.addEventListener("abort", abort, { once: true, signal: over.signal });
      },
      async pull(controller) {
        thread ??= new PackThread(directory);
        const chunk = await thread.next().catch(async (error) => {
          await end();
          throw error;
        });
        if (chunk) return controller.enqueue(chunk);
        await end();
        controller.close();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
