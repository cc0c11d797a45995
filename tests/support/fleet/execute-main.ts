/**
 * Executes a loop on a stored session, and prints its result:
 * `node tests/support/fleet/execute-main.ts FOLDER [kill]`, where `kill` kills the process at the request for the second
 * turn. Each turn and call adds a line to `ledger.txt` in the folder.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { AgentLoop } from "../../../src/fleet/index.ts";
import { definePrompt, Session, Tool, ToolResult } from "../../../src/index.ts";
import { JsonlSessionStore } from "../../../src/stores/index.ts";
import { type ScriptStep, scriptedClient } from "../../../src/testing/index.ts";

const [folder = "", mode = ""] = process.argv.slice(2);
const note = (line: string) => appendFileSync(join(folder, "ledger.txt"), `${line}\n`);

const charge = new Tool({
  name: "charge",
  description: "Charges.",
  params: null,
  handler: () => {
    note("charge");
    return ToolResult.ok(null, "charged");
  },
});

const answer: ScriptStep = ({ turn, answers }) => {
  note(`turn ${turn}`);
  if (turn === 2 && mode === "kill") process.kill(process.pid, "SIGKILL");
  return turn === 1 ? { toolCalls: [{ name: "charge" }] } : { text: `read: ${answers[0]?.text}` };
};

const loop = new AgentLoop({
  name: "pay",
  request: z.object({ cents: z.number() }),
  prepare: () => definePrompt({ name: "pay", instructions: "Pay.", tools: [charge] }),
  adapter: () => scriptedClient(answer, answer),
});

const session = await Session.openOrCreate(new JsonlSessionStore(join(folder, "sessions")), "run");
process.stdout.write(await loop.execute({ cents: 5 }, { session }));
await session.close();
