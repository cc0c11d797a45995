import { checkKnownKeys } from "../../base/errors.ts";
import { PackThread } from "./pack-thread.ts";

/** Options of {@link packDirectory}. */
export interface PackOptions {
  /** Aborts packing; the stream then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Packs a folder as a tar stream. A thread produces the bytes as you read them; it ends when you cancel
 * the stream or abort the signal.
 *
 * Deterministic: equal trees give equal bytes. Entries are sorted by path, dated 1980, owned by root, and
 * have mode 644 or 755.
 *
 * The stream fails with a `FilesystemError` if an entry is neither a file nor a folder or cannot be read,
 * and with the signal's reason on abort.
 *
 * @example
 * ```ts
 * import { createWriteStream } from "node:fs";
 * import { Writable } from "node:stream";
 * import { packDirectory } from "weakincentives/files";
 *
 * const stream = packDirectory("./project");
 * await stream.pipeTo(Writable.toWeb(createWriteStream("project.tar")));
 * ```
 */
export function packDirectory(
  directory: string,
  options: PackOptions = {},
): ReadableStream<Uint8Array> {
  checkKnownKeys(options, "packDirectory(options)", { signal: true });
  const { signal } = options;
  const ended = new AbortController();
  let thread: PackThread | undefined;
  const stop = async () => {
    ended.abort();
    await thread?.terminate();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const abort = () => {
          controller.error(signal?.reason);
          return stop();
        };
        if (signal?.aborted) return abort();
        return signal?.addEventListener("abort", abort, { once: true, signal: ended.signal });
      },
      async pull(controller) {
        thread ??= new PackThread(directory);
        const chunk = await thread.next().catch(async (error) => {
          await stop();
          throw error;
        });
        if (chunk) return controller.enqueue(chunk);
        await stop();
        controller.close();
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}
