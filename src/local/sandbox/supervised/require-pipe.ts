import { Duplex } from "node:stream";

/** Returns a stream of a spawned process as a pipe. */
export function requirePipe(stream: unknown): Duplex {
  if (stream instanceof Duplex) return stream;
  throw new Error("A pipe of the sandbox's process is missing.");
}
