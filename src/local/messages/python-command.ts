/**
 * Returns a shell command that runs the code with Python. The here-document's delimiter never occurs in the
 * code.
 */
export function toPythonCommand(code: string): string {
  const lines = new Set(code.split("\n"));
  let delimiter = "PYTHON";
  while (lines.has(delimiter)) delimiter += "_";
  return `python3 - <<'${delimiter}'\n${code}\n${delimiter}`;
}
