/** An error as the database has it. */
export interface StoredError {
  /** The error's own name. */
  readonly name: string;
  /** Name of the nearest class in the list of known errors. */
  readonly base: string;
  readonly message: string;
  /** The frames of the stack, without its first line. */
  readonly frames?: string | undefined;
  /** The error's fields that are JSON. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: StoredCause | undefined;
  /** Fields with the cause itself, such as `originalError`. */
  readonly causeFields?: readonly string[] | undefined;
  /** Other fields with errors. */
  readonly errorFields?: Readonly<Record<string, StoredError>> | undefined;
  /** The errors of an `AggregateError`. */
  readonly errors?: readonly StoredError[] | undefined;
}

/** The cause of an error: usually another error, but any value can be thrown. */
export type StoredCause = { readonly error: StoredError } | { readonly value: unknown };
