/** Pays invoices with a tool that is stopped in the middle of a payment, and pays none of them twice. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  ResourceRegistry,
  resource,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const payments = new Map<string, string>(); // instead of the bank: invoices by the key of their call
const power = new AbortController(); // instead of a crash

/** A connection that must be closed. Any object can be a resource. */
class Bank {
  pay(key: string, invoice: string): void {
    payments.set(key, invoice);
  }
  find(key: string): string | undefined {
    return payments.get(key);
  }
  [Symbol.dispose](): void {
    console.log("The connection is closed.");
  }
}
const bank = resource<Bank>("bank");
const id = z.string().describe("The number of the invoice, such as A-1");

const payInvoice = new Tool({
  name: "pay_invoice",
  description: "Pays an invoice.",
  params: z.strictObject({ id, euros: z.number() }),
  effects: "once", // the default: a call is never started twice
  // After a crash: has the bank got the payment of this call?
  reconcile: async ({ id }, { resources, callKey }) =>
    resources.get(bank).find(callKey) === id
      ? ToolResult.ok({ id }, `The bank says that invoice ${id} is paid.`)
      : "not-started",
  needsApproval: ({ euros }) => euros > 500,
  handler: ({ id }, { resources, callKey }) => {
    resources.get(bank).pay(callKey, id);
    if (id === "A-1") power.abort(new Error("The power failed.")); // paid, and not known here
    return ToolResult.ok({ id }, `Invoice ${id} is paid.`);
  },
});
const readInvoice = new Tool({
  name: "read_invoice",
  description: "Reads an invoice: its amount in euros and its supplier.",
  params: z.strictObject({ id }),
  effects: "none", // only reads, so a call may be started again
  parallel: true, // calls of one turn may run at the same time
  handler: ({ id }) =>
    id.startsWith("A-")
      ? ToolResult.ok({ id, amount: 120, supplier: "Mill & Sons" })
      : ToolResult.error(`There is no invoice ${id}. Invoices start with A-.`),
});
const waitForBank = new Tool({
  name: "wait_for_bank",
  description: "Waits until the bank confirms the payment.",
  params: null,
  effects: "none",
  handler: async (_params, { signal }) => {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(5_000)]);
    timeout.throwIfAborted(); // pass `timeout` to fetch() here
    throw new Error("the bank is closed");
  },
});

const template = new PromptTemplate({
  ns: "office",
  key: "invoices",
  sections: [
    new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Pay the invoices that you are given.",
      tools: [payInvoice, readInvoice, waitForBank],
    }),
  ],
  resources: new ResourceRegistry().bind(bank, () => new Bank()),
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const script = scriptedClient(
  {
    toolCalls: [
      { name: "read_invoice", arguments: { id: "A-1" } },
      { name: "read_invoice", arguments: { id: "B-2" } },
      { name: "pay_invoice", arguments: { id: "A-1", euros: 120 } },
      { name: "pay_invoice", arguments: { id: 1, euros: 120 } },
      { name: "pay_invoice", arguments: { id: "A-9", euros: 9_000 } },
      { name: "wait_for_bank" },
    ],
  },
  { text: "A-1 is paid. B-2 does not exist. A-9 needs approval." },
);
const isLive = process.argv.includes("--live");
const adapter: ProviderAdapter = isLive ? new OpenAIAdapter({ model: "gpt-5.2" }) : script;

const folder = await mkdtemp(join(tmpdir(), "invoices-"));
const store = new JsonlSessionStore(folder);
const session = await Session.openOrCreate(store, "invoices");
session.bus.subscribe("ToolInvoked", ({ name, result }) => {
  console.log(`${name} ${result.success ? "succeeded" : "failed"}: ${result.message}`);
});
const options = { session, input: "Pay A-1, B-2 and A-9.", resume: true };
try {
  await adapter.evaluate(new Prompt(template), { ...options, signal: power.signal });
} catch (error) {
  console.log(`Stopped: ${error instanceof Error ? error.message : error}`);
}
const { text } = await adapter.evaluate(new Prompt(template), options); // in your program: the next process
console.log(`${text} Payments: ${payments.size}`);
await store.close();
await rm(folder, { recursive: true });
// prints: read_invoice succeeded: OK
// prints: read_invoice failed: There is no invoice B-2. Invoices start with A-.
// prints: The connection is closed.
// prints: Stopped: The power failed.
// prints: pay_invoice succeeded: The bank says that invoice A-1 is paid.
// prints: pay_invoice failed: The arguments do not fit the tool's parameters: id: Invalid input: expected string, received number
// prints: pay_invoice failed: The call was not made: it needs approval, and there is no one to give it. Do not repeat it. Continue without it, or say what you need it for.
// prints: wait_for_bank failed: Tool "wait_for_bank" failed: the bank is closed
// prints: The connection is closed.
// prints: A-1 is paid. B-2 does not exist. A-9 needs approval. Payments: 1
