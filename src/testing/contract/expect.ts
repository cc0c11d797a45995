import { stableStringify } from "../../base/json.ts";
import { show } from "../../base/show.ts";

/** Throws unless the two are the same data. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [stableStringify(actual), stableStringify(expected)];
  if (is !== should) throw new Error(`${what}: expected ${should}, and it is ${is}`);
}

/** Throws unless `text` holds `part`. */
export function holds(text: string | undefined, part: string, what: string): void {
  if (!text?.includes(part)) throw new Error(`${what}: ${show(part)} is not in ${show(text)}`);
}

/** What `work` throws; not throwing is a failure. */
export async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  let result: unknown;
  try {
    result = await work;
  } catch (error) {
    return error;
  }
  throw new Error(`It should have failed, and gave ${show(result)}`);
}

/** What `work` throws, if it is of `type`. */
export async function failure<Failure>(
  work: Promise<unknown>,
  type: abstract new (...args: never) => Failure,
): Promise<Failure> {
  const error = await thrownBy(work);
  if (error instanceof type) return error;
  throw new Error(`It should have failed with ${type.name}`, { cause: error });
}
