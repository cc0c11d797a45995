import { randomFillSync } from "node:crypto";

/** Creates unique ids: `ids.next("resp_")`. */
export interface Ids {
  next(prefix: string): string;
}

/** Creates random ids as long as OpenAI's: 24 bytes, in hex. */
export function randomIds(): Ids {
  // Random bytes are drawn from a pool: a system call for each id would cost more than the rest of a request.
  const pool = Buffer.alloc(8192);
  let used = pool.length;
  return Object.freeze({
    next: (prefix: string) => {
      if (used + BYTES > pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      used += BYTES;
      return prefix + pool.toString("hex", used - BYTES, used);
    },
  });
}

const BYTES = 24;
