const LONGEST = 80;

/** A value as an error message quotes it: short, on one line, never a throw. */
export function show(value: unknown): string {
  try {
    return cut(shown(value).replace(/[\r\n\u2028\u2029]+/g, " "));
  } catch {
    return "a value that cannot be shown"; // a getter or a proxy of its own threw
  }
}

/** `["a", "b"]` as `"a", "b"`, cut after the first few. */
export function list(names: Iterable<string>, most = 12): string {
  const all = [...names];
  const shown = all.slice(0, most).map((name) => JSON.stringify(name));
  return all.length > most ? `${shown.join(", ")} and ${all.length - most} more` : shown.join(", ");
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return value.name ? `the function ${value.name}` : "a function";
  if (typeof value !== "object" || value === null) return String(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !Array.isArray(value)) {
    return `a ${value.constructor?.name || "nameless class"}`;
  }
  return jsonOf(value) ?? (Array.isArray(value) ? "an array" : "an object");
}

function jsonOf(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // it has a cycle or a bigint
  }
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
