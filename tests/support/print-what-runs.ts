import { sdkMissing } from "./claude/installed.ts";

/** Which Node the tests run on: the one that the development dependency brings, whatever npm has. */
export function setup(): void {
  process.stdout.write(`Tests run on Node ${process.version}\n`);
  if (sdkMissing === null) return;
  const reason = "it is not installed: npm run claude fetches it";
  process.stdout.write(`Tests on the Claude Agent SDK are skipped, because ${reason}\n`);
}
