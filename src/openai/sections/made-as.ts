import { PromptValidationError } from "../../base/errors.ts";
import { show } from "../../base/show.ts";

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
    throw refusedAs(
      error,
      options === undefined ? named : named.replace(/^\w+\(options\)\./, () => options),
    );
  }
}

/** A message reads "field rule, but is value: remedy", and its field and value are known. */
function refusedAs(error: PromptValidationError, field: string): PromptValidationError {
  const said = error.message.slice(error.field.length + 1);
  const quoted = `, but is ${show(error.value)}: `;
  const secret = !said.includes(quoted);
  const between = secret ? ", but is a secret that is not: " : quoted;
  const [rule = said, ...remedy] = said.split(between);
  return new PromptValidationError({
    field,
    value: error.value,
    rule,
    remedy: remedy.join(between),
    secret,
    cause: error.cause,
  });
}
