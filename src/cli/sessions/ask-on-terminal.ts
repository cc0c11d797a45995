import { createInterface } from "node:readline/promises";

/** Asks a question on standard error. Returns whether the answer is yes: any other answer, Ctrl-C and Ctrl-D are no. */
export async function askOnTerminal(
  question: string,
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<boolean> {
  using lines = createInterface({ input, output });
  const ended = new Promise<null>((resolve) => lines.once("close", () => resolve(null)));
  const answer = await Promise.race([lines.question(`${question} [y/N] `), ended]);
  if (answer === null) output.write("\n"); // the cursor is behind the question
  return answer !== null && /^\s*y(?:es)?\s*$/i.test(answer);
}
