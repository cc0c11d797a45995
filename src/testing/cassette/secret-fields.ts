import { parseJson } from "../../base/json.ts";

/** Names of fields whose strings are credentials. */
export const SECRET_FIELD =
  /^(?:token|(?:[\w-]*[-_])?(?:authorization|cookie|secret)|[\w-]*(?:(?:api|private|secret|signing|(?:secret[-_]?)?access)[-_]?key|passw(?:or)?d|passphrase|client[-_]?secret|(?:access|api|auth|bearer|bot|github|gitlab|hf|id|npm|refresh|security|session|slack)[-_]?token))$/i;

/** Whether a string in a field of this name is a credential. */
export function isSecretField(name: string): boolean {
  return SECRET_FIELD.test(name);
}

/** Where a credential is in a text. */
interface SecretValue {
  readonly start: number;
  readonly end: number;
  /** The number of backslashes before each of its quotation marks: 0, or 1 in JSON inside a string, then 3. */
  readonly escapes: number;
}

/** Finds the values of credentials in JSON, also in JSON inside strings. A value that is cut off ends with its line. */
export function findSecretValues(text: string): readonly SecretValue[] {
  const found: SecretValue[] = [];
  const fields = /"([\w-]{1,64})\\{0,31}"\s{0,32}:\s{0,32}(\\{0,31})"/g;
  for (let match = fields.exec(text); match; match = fields.exec(text)) {
    const [all, name = "", { length: escapes } = ""] = match;
    if (!isSecretField(name)) continue;
    const start = match.index + all.length;
    const end = findEnd(text, start, escapes);
    fields.lastIndex = end;
    const isLogProbability = /^\\*",\s{0,32}\\*"logprob\\*"/.test(text.slice(end, end + 128));
    if (end > start && !isLogProbability) found.push({ start, end, escapes });
  }
  return found;
}

/** Finds the end of a string. Each of its own backslashes is doubled as often as the string is quoted. */
function findEnd(text: string, start: number, escapes: number): number {
  const cycle = 2 * (escapes + 1);
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || code === RETURN) return at;
    if (code === BACKSLASH) {
      const first = at;
      while (text.charCodeAt(at) === BACKSLASH) at += 1;
      const isQuote = text.charCodeAt(at) === QUOTE;
      if (isQuote && (at - first) % cycle === escapes) return at - escapes;
      if (!isQuote) at -= 1;
    } else if (code === QUOTE && escapes === 0) {
      return at;
    }
  }
  return text.length;
}

const [LINE_FEED, RETURN, QUOTE, BACKSLASH] = [10, 13, 34, 92];

/** Returns a value as it was before it was written as JSON. */
export function unescapeValue(value: string, escapes: number): string {
  let plain = value;
  for (let left = escapes; left >= 0; left = (left - 1) / 2) {
    const parsed = parseJson(`"${plain}"`);
    if (!parsed.ok || typeof parsed.value !== "string") return plain;
    plain = parsed.value;
    if (left === 0) break;
  }
  return plain;
}

/** Writes a text as a string of JSON, without quotation marks. */
export function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
