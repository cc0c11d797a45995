import type { ClientRequest } from "node:http";
import type { EncodedForm } from "./transport.ts";

/**
 * Writes a form, as fast as the connection accepts it. The memory of a piece is freed as soon as it is sent: otherwise
 * the pieces of a large file pile up until the garbage collector runs.
 */
export async function writeForm(sent: ClientRequest, form: EncodedForm): Promise<void> {
  const spare = new WeakSet<Uint8Array>();
  sent.on("response", (answer) => {
    answer.on("end", () => sent.writableFinished || sent.destroy()); // the server does not want the rest
  });
  for await (const piece of form.pieces((one) => spare.add(one))) {
    if (sent.destroyed) return;
    const onSent = spare.has(piece) ? () => freeMemory(piece.buffer) : undefined;
    if (!sent.write(piece, onSent)) await waitForDrain(sent);
  }
  sent.end();
}

function waitForDrain(sent: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const onReady = () => {
      sent.off("drain", onReady).off("close", onReady);
      resolve();
    };
    sent.on("drain", onReady).on("close", onReady);
  });
}

function freeMemory(memory: ArrayBufferLike): void {
  if ("transfer" in memory && typeof memory.transfer === "function") memory.transfer(0);
}
