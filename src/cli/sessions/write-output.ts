import { once } from "node:events";

/** Writes to standard output, and waits while its reader is slower: only one piece is in memory. */
export async function writeOutput(piece: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(piece)) await once(process.stdout, "drain");
}
