/**
 * A server without the MCP packages, for tests: reads a behavior from its argument and speaks JSON-RPC over stdio. Run
 * as a child process.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { createAnswers, type ServerBehavior } from "./server-answers.ts";

const behavior: ServerBehavior = JSON.parse(process.argv[2] ?? "{}");
const send = (message: object) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

if (behavior.stderr !== undefined) process.stderr.write(behavior.stderr);
if (behavior.exitsAtStart) process.exit(behavior.exitCode ?? 1);
if (behavior.ignoresEnd) {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 60_000);
}

const answers = createAnswers(behavior, {
  notify: (method, params = {}) => send({ method, params }),
  crash: () => process.exit(behavior.exitCode ?? 3),
  writeRaw: (text) => process.stdout.write(text),
  startHelper: () => spawn("sleep", ["600"], { stdio: "inherit" }).pid ?? 0,
  readEnvironment: () => ({ ...process.env }),
});

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const answer = answers(JSON.parse(line));
  if (answer !== null) send(answer);
});
lines.on("close", () => {
  if (!behavior.ignoresEnd) process.exit(0);
});
