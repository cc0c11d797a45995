import { InvalidOptionError, type Refusal } from "./errors.ts";
import { quoteNames } from "./quote-value.ts";
import { suggestSpelling } from "./suggest-spelling.ts";

/** Every key of an options type. The compiler reports a missing key. */
export type KnownKeys<Options extends object> = { readonly [Key in keyof Options]-?: true };

/** A class of errors about options. */
export type RefusalClass = new (refusal: Refusal) => InvalidOptionError;

/**
 * Rejects options that are not an object, and options with a key that is not in `keys`, also if its
 * value is `undefined`. `owner` is what the caller calls: `"Session"` or `"uploadFile(options)"`.
 */
export function checkKnownKeys<Options extends object>(
  options: Options,
  owner: string,
  keys: KnownKeys<NoInfer<Options>>,
  kind: RefusalClass = InvalidOptionError,
): void {
  for (const key of Object.keys(checkObject(options, owner, kind))) {
    if (!Object.hasOwn(keys, key)) throw createUnknownKeyError(key, owner, Object.keys(keys), kind);
  }
}

/** Returns `options` if it is an object. Plain JavaScript callers may omit it. */
export function checkObject<Options extends object>(
  options: Options,
  owner: string,
  kind: RefusalClass = InvalidOptionError,
): Options {
  if (typeof options === "object" && options !== null && !Array.isArray(options)) return options;
  const field = owner.endsWith(")") ? owner : `${owner}(options)`;
  throw new kind({ field, value: options, rule: "must be an object", remedy: "use { … }" });
}

/**
 * Creates the error for an unknown key. It quotes the key, but never its value, which may be a
 * secret under a misspelled name.
 */
export function createUnknownKeyError(
  key: string,
  owner: string,
  known: readonly string[],
  kind: RefusalClass = InvalidOptionError,
): InvalidOptionError {
  const near = suggestSpelling(key, known);
  const list = known.length === 0 ? "must be omitted" : `must be one of ${quoteNames(known, 30)}`;
  return new kind({
    field: `${owner} key`,
    value: key,
    rule: near === null ? list : "must be a known option",
    remedy: near === null ? "remove it" : `did you mean "${near}"?`,
  });
}
