/** Which Node the tests run on: the one that the development dependency brings, whatever npm has. */
export function setup(): void {
  process.stdout.write(`Tests run on Node ${process.version}\n`);
}
