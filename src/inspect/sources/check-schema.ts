import { InvalidOptionError } from "../../base/errors.ts";

/** Returns the value of `--schema`, which becomes part of statements. Throws `InvalidOptionError` for any other text. */
export function checkSchema(schema = "wink"): string {
  if (/^[A-Za-z_]\w{0,62}$/.test(schema)) return schema;
  const rule = "must be 1-63 letters, digits and _, not starting with a digit";
  const remedy = 'omit it for "wink"';
  throw new InvalidOptionError({ field: "--schema", value: schema, rule, remedy });
}
