import { randomFillSync } from "node:crypto";

/** Makes ids: `ids.next("resp_")`. */
export interface Ids {
  next(prefix: string): string;
}

/** Random ones, as long as OpenAI's. */
export function randomIds(): Ids {
  // Drawn from in small pieces: asking the system for each costs more than the rest of a request.
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
