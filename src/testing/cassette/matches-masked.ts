/**
 * Whether a text equals a recorded one in which secrets are masked. A mask matches any text without quotation marks, because the secret may be another one, or not known to be secret, when a run is replayed.
 */
export function matchesMasked(recorded: string, text: string): boolean {
  if (recorded === text) return true;
  const [first = "", ...rest] = recorded.split("<secret>");
  if (rest.length === 0 || !text.startsWith(first)) return false;
  let at = first.length;
  for (const [index, part] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const next = isLast ? text.length - part.length : text.indexOf(part, at + 1);
    if (next <= at || !text.startsWith(part, next) || text.slice(at, next).includes('"')) {
      return false;
    }
    at = next + part.length;
  }
  return true;
}
