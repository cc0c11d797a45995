/**
 * Returns the Python traceback at the end of a log; its last line names an error. Returns `""` if
 * there is none or if other output follows it.
 */
export function findTraceback(log: string): string {
  const header = log.lastIndexOf("Traceback (most recent call last)");
  if (header < 0) return "";
  // Start at the beginning of the line: IPython puts the error's name there.
  const trace = log.slice(log.lastIndexOf("\n", header) + 1).trimEnd();
  const last = trace.slice(trace.lastIndexOf("\n") + 1);
  return /(?:Error|Exception|Exit|Interrupt|Iteration|Warning)\b/.test(last) ? trace : "";
}
