import { Buffer } from "node:buffer";
import { openSessionFile } from "./open-session-file.ts";

/** The number of a claim, and that of the claim before it. */
export interface RaisedFence {
  readonly fence: number;
  /** `null` if the file was missing or damaged. */
  readonly before: number | null;
}

/**
 * Raises the number in a session's claim file, which counts its claims. Call it only with the session's
 * lock. The number has a fixed width and is written at once, so that a kill cannot tear it. A missing or
 * damaged file starts at `now`, which is more than the number of any earlier claim.
 */
export async function raiseFence(path: string, now: number): Promise<RaisedFence> {
  await using file = await openSessionFile(path, "update", `its claim file ${path}`);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(DIGITS), 0, DIGITS, 0);
  const before = parseFence(buffer.toString("latin1", 0, bytesRead));
  const fence = (before ?? Math.floor(now)) + 1;
  await file.write(`${String(fence).padStart(DIGITS, "0")}\n`, 0);
  return { fence, before };
}

/** Number of digits of the largest safe integer. */
const DIGITS = 16;

function parseFence(text: string): number | null {
  const fence = /^\d{16}$/.test(text) ? Number(text) : 0;
  return fence > 0 && fence < Number.MAX_SAFE_INTEGER ? fence : null;
}
