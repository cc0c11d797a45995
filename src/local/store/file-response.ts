import type { FileHandle } from "node:fs/promises";
import { extname } from "node:path";
import { getMimeType } from "./mime-type.ts";

const CHUNK_BYTES = 64 * 1024;

/** Creates a download response with a file's bytes. It closes the handle, whether or not the body is read. */
export async function fileResponse(handle: FileHandle, filename: string): Promise<Response> {
  const { size } = await handle.stat();
  return new Response(streamFile(handle, size), {
    headers: {
      "content-type": getMimeType(filename) ?? "application/octet-stream",
      "content-length": String(size),
      "content-disposition": toContentDisposition(filename),
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox", // a page that a model wrote must not run as a page of this server
    },
  });
}

/** Reads one chunk per pull. Bytes appended to the file after it was opened are not sent. */
function streamFile(handle: FileHandle, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let position = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        const buffer = new Uint8Array(Math.min(CHUNK_BYTES, size - position));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
        position += bytesRead;
        if (bytesRead > 0) controller.enqueue(buffer.subarray(0, bytesRead));
        if (bytesRead > 0 && position < size) return;
        await handle.close();
        controller.close();
      },
      cancel: () => handle.close(),
    },
    { highWaterMark: 0 },
  );
}

/** A plain name for old clients, and the real name for all others. */
function toContentDisposition(filename: string): string {
  const extension = extname(filename).replace(/[^.\w]/g, "");
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="file${extension}"; filename*=UTF-8''${encoded}`;
}
