import { quoteNames, quoteValue } from "./quote-value.ts";
import { suggestSpelling } from "./suggest-spelling.ts";
import { toSentence } from "./to-sentence.ts";
import { WinkError } from "./wink-error.ts";

export { WinkError } from "./wink-error.ts";

/** Describes an invalid value passed by the caller, and how to fix it. */
export interface Refusal {
  /** Name of the field in the caller's terms: `"Tool.name"`. */
  readonly field: string;
  readonly value: unknown;
  /** Continues the sentence after the field: `"must be a positive integer"`. */
  readonly rule: string;
  /**
   * An imperative without a capital or a final period: `"use a number of milliseconds above 0"`.
   */
  readonly remedy: string;
  /** Whether the value is a secret. If so, the message does not quote it. @default false */
  readonly secret?: boolean | undefined;
  readonly cause?: unknown;
}

/** Optional details that most refusals omit. */
export type RefusalDetails = Pick<Refusal, "cause" | "secret">;

/** Creates errors about the fields of one scope. See {@link InvalidOptionError.at}. */
export type RefusalFactory<Kind extends InvalidOptionError> = (
  name: string,
  value: unknown,
  rule: string,
  remedy: string,
  details?: RefusalDetails,
) => Kind;

/** Thrown when an option is invalid. Nothing has been done with the value. */
export class InvalidOptionError extends WinkError {
  override readonly name: string = "InvalidOptionError";
  /** Name of the invalid field, such as `"Budget.maxTotalTokens"`. */
  readonly field: string;
  /** The rejected value, or `undefined` if it is a secret. */
  readonly value: unknown;
  /** What to do about it. The message ends with this text. */
  readonly remedy: string;
  readonly #refusal: Refusal;

  /**
   * Returns a factory that creates errors of this class for the fields of one scope. A string is the
   * prefix of each field name (and the whole name if the field name is `""`). A function computes the
   * full name.
   *
   * @example
   * ```ts
   * import { InvalidOptionError } from "weakincentives";
   *
   * const refuse = InvalidOptionError.at("LocalProvider");
   * throw refuse("port", -1, "must be a port number", "omit it for any free port");
   * // LocalProvider.port must be a port number, got -1. Omit it for any free port.
   * ```
   */
  static at<Kind extends InvalidOptionError>(
    this: new (
      refusal: Refusal,
    ) => Kind,
    scope: string | ((name: string) => string),
  ): RefusalFactory<Kind> {
    const toField = typeof scope === "string" ? prefixWith(scope) : scope;
    return (name, value, rule, remedy, details) =>
      new this({ ...details, field: toField(name), value, rule, remedy });
  }

  constructor(refusal: Refusal) {
    super(formatRefusal(refusal), refusal.cause === undefined ? {} : { cause: refusal.cause });
    this.field = refusal.field;
    this.value = refusal.secret ? undefined : refusal.value;
    this.remedy = refusal.remedy;
    this.#refusal = refusal;
  }

  /** Returns the same error under the name by which the caller knows the field. */
  withField(field: string): this {
    const kind = this.constructor as new (refusal: Refusal) => this;
    return new kind({ ...this.#refusal, field });
  }
}

/** Thrown when a tool, section or prompt is constructed with invalid or contradictory options. */
export class PromptValidationError extends InvalidOptionError {
  override readonly name = "PromptValidationError";
}

/** Thrown when a prompt cannot be rendered to text. */
export class PromptRenderError extends WinkError {
  override readonly name = "PromptRenderError";
  /** Section keys from the root, joined by dots. */
  readonly sectionPath: string;

  constructor(sectionPath: string, problem: string, cause?: unknown) {
    super(`Section "${sectionPath}": ${problem}`, cause === undefined ? {} : { cause });
    this.sectionPath = sectionPath;
  }
}

/** Thrown when the model's answer does not match the output that the prompt declares. */
export class OutputParseError extends WinkError {
  override readonly name = "OutputParseError";
  /** The model's answer, unmodified. */
  readonly text: string;

  constructor(problem: string, text: string) {
    super(problem);
    this.text = text;
  }
}

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
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    const field = owner.endsWith(")") ? owner : `${owner}(options)`;
    throw new kind({ field, value: options, rule: "must be an object", remedy: "use { … }" });
  }
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(keys, key)) throw createUnknownKeyError(key, owner, Object.keys(keys), kind);
  }
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

/** Returns an error's message, or any other thrown value as quoted text. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : quoteValue(error);
}

function prefixWith(scope: string): (name: string) => string {
  return (name) => [scope, name].filter((part) => part !== "").join(".");
}

function formatRefusal({ field, value, rule, remedy, secret = false }: Refusal): string {
  return `${field} ${rule}, got ${secret ? "a secret (not shown)" : quoteValue(value)}. ${toSentence(remedy)}`;
}
