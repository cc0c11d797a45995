import { stableStringify } from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";

/** Throws unless the two values serialize to the same JSON. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [stableStringify(actual), stableStringify(expected)];
  if (is !== should) throw new Error(`${what}: expected ${should}, got ${is}`);
}

/** Throws unless `text` contains `part`. */
export function expectContains(text: string | undefined, part: string, what: string): void {
  if (!text?.includes(part))
    throw new Error(`${what}: ${quoteValue(part)} is not in ${quoteValue(text)}`);
}

/** Returns the error that `work` rejects with. Throws if it resolves. */
export async function catchRejection(work: Promise<unknown>): Promise<unknown> {
  let result: unknown;
  try {
    result = await work;
  } catch (error) {
    return error;
  }
  throw new Error(`Expected a rejection, got ${quoteValue(result)}`);
}

/** Returns the error that `work` rejects with, if it is an instance of `type`. */
export async function expectRejection<Failure>(
  work: Promise<unknown>,
  type: abstract new (...args: never) => Failure,
): Promise<Failure> {
  const error = await catchRejection(work);
  if (error instanceof type) return error;
  throw new Error(`Expected a rejection with ${type.name}`, { cause: error });
}
