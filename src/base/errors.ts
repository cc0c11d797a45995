import { show } from "./show.ts";

/** Every error this package throws on purpose extends `WinkError`; anything else is a bug. */
export class WinkError extends Error {
  override readonly name: string = "WinkError";
}

/** What was wrong with something the caller gave, and what to do about it. */
export interface Refusal {
  /** What it was given as: `"Tool.name"`. */
  readonly field: string;
  readonly value: unknown;
  /** Reads on after the field: `"must be a positive integer"`. */
  readonly rule: string;
  /** Reads on after the rule: `"give a number of milliseconds above 0"`. */
  readonly remedy: string;
  /** The value is a secret: the message does not quote it. @default false */
  readonly secret?: boolean | undefined;
  readonly cause?: unknown;
}

/** The parts of a refusal that most errors do not have. */
export type RefusalDetails = Pick<Refusal, "cause" | "secret">;

/** Creates errors about the fields of one scope; see {@link InvalidOptionError.at}. */
export type RefusalFactory<Kind extends InvalidOptionError> = (
  name: string,
  value: unknown,
  rule: string,
  remedy: string,
  details?: RefusalDetails,
) => Kind;

/** An option of a session, deadline, budget or registry that cannot be; nothing was done with it. */
export class InvalidOptionError extends WinkError {
  override readonly name: string = "InvalidOptionError";
  readonly field: string;
  /** What was given, or `undefined` if it was a secret. */
  readonly value: unknown;
  /** What to do about it: the end of the message. */
  readonly remedy: string;
  readonly #refusal: Refusal;

  /**
   * Returns a factory of errors of this class about the fields of one scope. A text is the prefix of
   * each field's name, and stands alone where the name is `""`; a function makes the field of a name.
   *
   * @example
   * ```ts
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
    super(refusalMessage(refusal), refusal.cause === undefined ? {} : { cause: refusal.cause });
    this.field = refusal.field;
    this.value = refusal.secret ? undefined : refusal.value;
    this.remedy = refusal.remedy;
    this.#refusal = refusal;
  }

  /** The same refusal, by the name under which the caller knows the field. */
  renamed(field: string): this {
    const kind = this.constructor as new (refusal: Refusal) => this;
    return new kind({ ...this.#refusal, field });
  }
}

/** A tool, section or prompt that contradicts itself: found when it is made, not when it is used. */
export class PromptValidationError extends InvalidOptionError {
  override readonly name = "PromptValidationError";
}

/** A prompt could not be turned into text. */
export class PromptRenderError extends WinkError {
  override readonly name = "PromptRenderError";
  /** Keys from the root, joined by dots. */
  readonly sectionPath: string;

  constructor(sectionPath: string, problem: string, cause?: unknown) {
    super(`Section "${sectionPath}": ${problem}`, cause === undefined ? {} : { cause });
    this.sectionPath = sectionPath;
  }
}

/** The model's answer could not be read as the output that the prompt declares. */
export class OutputParseError extends WinkError {
  override readonly name = "OutputParseError";
  /** What the model wrote. */
  readonly text: string;

  constructor(problem: string, text: string) {
    super(problem);
    this.text = text;
  }
}

/** What a thrown value says: an error's message, or the value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : show(error);
}

function prefixWith(scope: string): (name: string) => string {
  return (name) => [scope, name].filter((part) => part !== "").join(".");
}

function refusalMessage({ field, value, rule, remedy, secret = false }: Refusal): string {
  return `${field} ${rule}, got ${secret ? "a secret that does not" : show(value)}. ${toSentence(remedy)}`;
}

/** Starts a text with a capital, unless it starts with a name such as `maxBytes`, and ends it with a period. */
function toSentence(text: string): string {
  const capital = /^[a-z]+(?![\w(.[])/.test(text) ? text.charAt(0).toUpperCase() : text.charAt(0);
  return `${capital}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
