/** Prints the figures of a trial as one line of JSON, for docs/reliability.md. */
export function printFigures(trial: string, figures: object): void {
  process.stderr.write(`${JSON.stringify({ trial, ...figures })}\n`);
}
