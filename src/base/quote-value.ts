const MAX_LENGTH = 80;

/** Formats a value for an error message: at most 80 characters, on one line. Never throws. */
export function quoteValue(value: unknown): string {
  try {
    return truncate(formatValue(value).replace(/[\r\n\u2028\u2029]+/g, " "));
  } catch {
    return "a value that cannot be displayed"; // a getter or a proxy threw
  }
}

/** Formats `["a", "b"]` as `"a", "b"`, with a count for those after the first `most`. */
export function quoteNames(names: Iterable<string>, most = 12): string {
  const all = [...names];
  const shown = all.slice(0, most).map((name) => JSON.stringify(name));
  return all.length > most ? `${shown.join(", ")} and ${all.length - most} more` : shown.join(", ");
}

function formatValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return value.name ? `the function ${value.name}` : "a function";
  if (typeof value !== "object" || value === null) return String(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !Array.isArray(value)) {
    const name = value.constructor?.name;
    return name ? `a ${name}` : "an instance of an anonymous class";
  }
  return tryStringify(value) ?? (Array.isArray(value) ? "an array" : "an object");
}

function tryStringify(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // the object has a cycle or a bigint
  }
}

function truncate(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1)}…`;
}
