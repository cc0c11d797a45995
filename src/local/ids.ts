import { randomFillSync } from "node:crypto";

/** Makes ids: `ids.next("resp_")`. */
export interface Ids {
  next(prefix: string): string;
}

/** Random ones, as long as OpenAI's. */
export const randomIds: Ids = Object.freeze({
  next: (prefix: string) => prefix + hex(24),
});

/** That many random bytes, in hexadecimal digits. */
export function hex(bytes: number): string {
  const { pool } = stock;
  if (stock.used + bytes > pool.length) {
    randomFillSync(pool);
    stock.used = 0;
  }
  stock.used += bytes;
  return pool.toString("hex", stock.used - bytes, stock.used);
}

/** Drawn from in small pieces: asking the system for each costs more than the rest of a request. */
const stock = { pool: Buffer.alloc(8192), used: 8192 };
