/** Pays three invoices in processes that are killed twice, and pays none of them twice. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePrompt, type ProviderAdapter, Session, Tool, ToolResult } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const [role, folder = "", attempt = ""] = process.argv.slice(2).filter((one) => one !== "--live");
const isLive = process.argv.includes("--live");
await (role === "pay" ? payInvoices() : startUntilPaid());

/** Starts a process after the other until one of them ends by itself. */
async function startUntilPaid(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "invoices-"));
  try {
    for (let attempt = 1; ; attempt++) {
      const script = process.argv[1] ?? "";
      const args = [...process.execArgv, script, "pay", folder, `${attempt}`];
      if (isLive) args.push("--live");
      const child = spawn(process.execPath, args, { stdio: "inherit" });
      const [code, signal] = await once(child, "exit");
      console.log(`Process ${attempt} ended: ${signal ?? `exit code ${code}`}`);
      if (signal !== "SIGKILL") break;
    }
    console.log(`The bank's ledger: ${readLedger(folder).join(", ")}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Opens the session, and continues where the last process was killed. */
async function payInvoices(): Promise<void> {
  const ledger = join(folder, "ledger.txt"); // instead of a bank
  const pay = new Tool({
    name: "pay",
    description: "Pays an invoice.",
    params: z.strictObject({ invoice: z.string() }),
    effects: "once", // the default: a call is never started twice
    handler: ({ invoice }) => {
      if (invoice === "A-2" && attempt === "1") process.kill(process.pid, "SIGKILL"); // not paid yet
      appendFileSync(ledger, `${invoice}\n`);
      if (invoice === "A-3" && attempt === "2") process.kill(process.pid, "SIGKILL"); // paid, and not known here
      return ToolResult.ok(null, `Paid ${invoice}.`);
    },
    // After a crash: was the call made before the process died?
    reconcile: async ({ invoice }) => {
      const isPaid = readLedger(folder).includes(invoice);
      console.log(`The bank says that ${invoice} is ${isPaid ? "paid" : "not paid"}`);
      return isPaid ? ToolResult.ok(null, `Paid ${invoice}.`) : "not-started";
    },
  });
  const clerk = definePrompt({
    name: "clerk",
    instructions: "Pay the invoices A-1, A-2 and A-3, each with one call, one after the other.",
    tools: [pay],
  });

  // A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
  const turns = ["A-1", "A-2", "A-3"].map((invoice) => ({
    toolCalls: [{ name: "pay", arguments: { invoice } }],
  }));
  const script = [...turns, { text: "All three invoices are paid." }];
  const answer = ({ turn }: { readonly turn: number }) => {
    console.log(`The model takes turn ${turn}`);
    return script[turn - 1] ?? { text: "" };
  };
  const adapter: ProviderAdapter = isLive
    ? new OpenAIAdapter({ model: "gpt-5.2" })
    : scriptedClient(...script.map(() => answer));

  const store = new JsonlSessionStore(join(folder, "sessions"));
  try {
    const session = await Session.openOrCreate(store, "invoices");
    const { text } = await adapter.evaluate(clerk, { session, resume: true });
    console.log(text);
  } finally {
    await store.close();
  }
}

function readLedger(folder: string): string[] {
  const path = join(folder, "ledger.txt");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}
// prints: The model takes turn 1
// prints: The model takes turn 2
// prints: Process 1 ended: SIGKILL
// prints: The bank says that A-2 is not paid
// prints: The model takes turn 3
// prints: Process 2 ended: SIGKILL
// prints: The bank says that A-3 is paid
// prints: The model takes turn 4
// prints: All three invoices are paid.
// prints: Process 3 ended: exit code 0
// prints: The bank's ledger: A-1, A-2, A-3
