import type { FileHandle } from "node:fs/promises";
import { extname } from "node:path";
import { getMimeType } from "hono/utils/mime";

const CHUNK_BYTES = 64 * 1024;

/** An answer of a file's bytes, to be saved and not shown. It closes the handle, read or not. */
export async function fileAnswer(handle: FileHandle, filename: string): Promise<Response> {
  const { size } = await handle.stat();
  return new Response(bytesOf(handle, size), {
    headers: {
      "content-type": getMimeType(filename) ?? "application/octet-stream",
      "content-length": String(size),
      "content-disposition": disposition(filename),
      "x-content-type-options": "nosniff",
    },
  });
}

/** Reads when asked, one chunk at a time; what is written to the file meanwhile is not of it. */
function bytesOf(handle: FileHandle, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let position = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        const room = new Uint8Array(Math.min(CHUNK_BYTES, size - position));
        const { bytesRead } = await handle.read(room, 0, room.length, position);
        position += bytesRead;
        if (bytesRead > 0) controller.enqueue(room.subarray(0, bytesRead));
        if (bytesRead > 0 && position < size) return;
        await handle.close();
        controller.close();
      },
      cancel: () => handle.close(),
    },
    { highWaterMark: 0 },
  );
}

/** A plain name for old clients, the real one for all others. */
function disposition(filename: string): string {
  const ending = extname(filename).replace(/[^.\w]/g, "");
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="file${ending}"; filename*=UTF-8''${encoded}`;
}
