/**
 * The trace with which a log ends, if Python printed one: its last line names an error. `""` where
 * there is none, or where something else was printed after it.
 */
export function tracebackIn(log: string): string {
  const header = log.lastIndexOf("Traceback (most recent call last)");
  if (header < 0) return "";
  // From the start of its line: IPython has the error's name there.
  const trace = log.slice(log.lastIndexOf("\n", header) + 1).trimEnd();
  const last = trace.slice(trace.lastIndexOf("\n") + 1);
  return /(?:Error|Exception|Exit|Interrupt|Iteration|Warning)\b/.test(last) ? trace : "";
}
