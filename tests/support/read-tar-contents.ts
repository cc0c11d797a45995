import {
  readTar,
  type SkippedEntry,
  type TarLimits,
} from "../../src/files/archive/tar/read-tar.ts";

/** The contents of a tar. */
export interface TarContents {
  readonly files: Readonly<Record<string, Buffer>>;
  readonly modes: Readonly<Record<string, number>>;
  readonly skipped: readonly SkippedEntry[];
}

/** Reads a whole tar. */
export async function readTarContents(
  path: string,
  limits: Partial<TarLimits> = {},
): Promise<TarContents> {
  const files: [string, Buffer][] = [];
  const modes: [string, number][] = [];
  const skipped: SkippedEntry[] = [];
  const onSkipped = (entry: SkippedEntry) => skipped.push(entry);
  const most = { maxBytes: Infinity, maxEntries: Infinity, onSkipped, ...limits };
  for await (const file of readTar(path, most)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of file.read()) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (bytes.length !== file.bytes) throw new Error(`${file.path} has ${bytes.length} bytes`);
    files.push([file.path, bytes]);
    modes.push([file.path, file.mode]);
  }
  // Not an object literal: a path may be "__proto__".
  return { files: Object.fromEntries(files), modes: Object.fromEntries(modes), skipped };
}
