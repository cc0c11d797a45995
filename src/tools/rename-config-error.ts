import { PromptValidationError } from "../base/errors.ts";

/** How the caller names the two arguments of a tool's factory. */
export interface ArgumentNames {
  /** Name of the config argument. */
  readonly config: string;
  /** Prefix of an option's name. @default the factory's own prefix */
  readonly options?: string | undefined;
}

/**
 * Calls a tool factory, and renames the field of any `PromptValidationError` to the caller's name
 * for it.
 */
export function renameConfigError<Made>(
  { config, options }: ArgumentNames,
  make: () => Made,
): Made {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof PromptValidationError)) throw error;
    const named = error.field.replace(/^\w+\(config\)/, () => config);
    throw error.withField(
      options === undefined ? named : named.replace(/^\w+\(options\)\./, () => options),
    );
  }
}
