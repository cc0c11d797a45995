import { PromptValidationError } from "../base/errors.ts";

/** What the two arguments of a tool's factory are called where the caller gave them. */
export interface GivenAs {
  readonly config: string;
  /** Goes before the name of an option. @default the factory's own word for it */
  readonly options?: string | undefined;
}

/** Makes something by a factory of `tools/`; what that refuses is named as the caller knows it. */
export function madeAs<Made>({ config, options }: GivenAs, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof PromptValidationError)) throw error;
    const named = error.field.replace(/^\w+\(config\)/, () => config);
    throw error.renamed(
      options === undefined ? named : named.replace(/^\w+\(options\)\./, () => options),
    );
  }
}
