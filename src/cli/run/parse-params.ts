import { InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { quoteNames } from "../../base/quote-value.ts";
import { suggestSpelling } from "../../base/suggest-spelling.ts";
import { type AgentParams, getType, type JsonType } from "./agent-params.ts";

/** The params that a user passes to an agent. */
export interface GivenParams {
  /** The values of `--param`: `name=value`. */
  readonly flags: readonly string[];
  /** The JSON of `--params` or of standard input. @default none */
  readonly json?: GivenJson | undefined;
}

/** JSON that a user passes, and its place. */
export interface GivenJson {
  readonly text: string;
  /** Names the place in errors: `"--params"` or `"standard input"`. */
  readonly field: string;
}

const refuse = InvalidOptionError.at("");

/**
 * Combines the params of flags and JSON; flags win. The value of a flag has the type that the agent declares: it stays
 * text if a string is accepted, and is JSON otherwise. Throws `InvalidOptionError` for unknown, missing and wrong params.
 */
export function parseParams({ flags, json }: GivenParams, params: AgentParams): unknown {
  const given = json === undefined ? undefined : parseGiven(json);
  if (!params.isObject && flags.length === 0) return given;
  if (given !== undefined && !isPlainObject(given)) {
    const remedy = 'pass one object with all params, such as {"topic": "bread"}';
    throw refuse(json?.field ?? "", given, "must be a JSON object", remedy);
  }
  for (const name of Object.keys(given ?? {})) checkName(name, json?.field ?? "", params);
  return { ...given, ...parseFlags(flags, params) };
}

/** Throws `InvalidOptionError` if params that the agent requires are missing. */
export function checkRequired(given: unknown, { required }: AgentParams): void {
  if (!isPlainObject(given)) return;
  const missing = required.filter((name) => given[name] === undefined);
  const [first] = missing;
  if (first === undefined) return;
  const remedy = `add --param ${first}=…, or pass JSON on standard input or with --params`;
  throw refuse("--param", Object.keys(given), `must include ${quoteNames(missing)}`, remedy);
}

function parseGiven({ text, field }: GivenJson): unknown {
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  throw refuse(field, text, "must be JSON", parsed.problem);
}

function parseFlags(flags: readonly string[], params: AgentParams): object {
  const values = new Map<string, unknown>();
  for (const flag of flags) {
    const at = flag.indexOf("=");
    const name = flag.slice(0, Math.max(0, at));
    if (name === "") {
      throw refuse("--param", flag, "must be name=value", "use --param topic=bread");
    }
    checkName(name, "--param", params);
    if (values.has(name)) {
      const remedy = 'pass it once; a list is JSON, such as --param names=\'["a", "b"]\'';
      throw refuse("--param", name, "must be passed once", remedy);
    }
    values.set(name, parseValue(name, flag.slice(at + 1), params.types.get(name)));
  }
  return Object.fromEntries(values);
}

function checkName(name: string, field: string, { types, isOpen }: AgentParams): void {
  if (isOpen || types.has(name)) return;
  const known = [...types.keys()];
  const near = suggestSpelling(name, known);
  const all = known.length > 0 ? `use ${quoteNames(known)}` : "omit it: the agent has no params";
  throw refuse(
    field,
    name,
    "must name params of the agent",
    near ? `did you mean "${near}"?` : all,
  );
}

function parseValue(name: string, text: string, types: ReadonlySet<JsonType> = new Set()): unknown {
  if (types.size === 0 || types.has("string")) return text;
  const parsed = parseJson(text);
  if (parsed.ok && isOfType(parsed.value, types)) return parsed.value;
  const [first] = types;
  const remedy = `use JSON, such as --param ${name}=${EXAMPLES[first ?? "null"]}`;
  throw refuse(
    `--param ${name}`,
    text,
    `must be ${[...types].map(describeType).join(" or ")}`,
    remedy,
  );
}

function isOfType(value: unknown, types: ReadonlySet<JsonType>): boolean {
  const type = getType(value);
  return types.has(type) || (type === "integer" && types.has("number"));
}

function describeType(type: JsonType): string {
  if (type === "null") return type;
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

const EXAMPLES: Readonly<Record<JsonType, string>> = {
  string: "bread",
  number: "0.5",
  integer: "3",
  boolean: "true",
  array: "'[1, 2]'",
  object: `'{"a": 1}'`,
  null: "null",
};
