/** Defines three tools: one runs in parallel, one uses a resource, and one stops when the run is canceled. */
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
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

/** A connection that must be closed. Any object can be a resource. */
class Ledger {
  readonly #paid = new Set<string>();
  pay(invoice: string): boolean {
    if (this.#paid.has(invoice)) return false;
    this.#paid.add(invoice);
    return true;
  }
  [Symbol.dispose](): void {
    console.log("The ledger is closed.");
  }
}
const ledger = resource<Ledger>("ledger");
const id = z.string().describe("The number of the invoice, such as A-1");

const readInvoice = new Tool({
  name: "read_invoice",
  description: "Reads an invoice: its amount in euros and its supplier.",
  params: z.strictObject({ id }),
  parallel: true, // only reads, so calls of one turn may run at the same time
  handler: ({ id }) =>
    id.startsWith("A-")
      ? ToolResult.ok({ id, amount: 120, supplier: "Mill & Sons" })
      : ToolResult.error(`There is no invoice ${id}. Invoices start with A-.`),
});
const payInvoice = new Tool({
  name: "pay_invoice",
  description: "Pays an invoice once.",
  params: z.strictObject({ id }),
  handler: ({ id }, { resources }) =>
    resources.get(ledger).pay(id)
      ? ToolResult.ok({ id }, `Invoice ${id} is paid.`)
      : ToolResult.error(`Invoice ${id} was already paid.`),
});
const waitForBank = new Tool({
  name: "wait_for_bank",
  description: "Waits until the bank confirms the payment.",
  params: null,
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
      tools: [readInvoice, payInvoice, waitForBank],
    }),
  ],
  resources: new ResourceRegistry().bind(ledger, () => new Ledger()),
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const script = scriptedClient(
  {
    toolCalls: [
      { name: "read_invoice", arguments: { id: "A-1" } },
      { name: "read_invoice", arguments: { id: "B-2" } },
      { name: "pay_invoice", arguments: { id: "A-1" } },
      { name: "pay_invoice", arguments: { id: 1 } },
      { name: "wait_for_bank" },
    ],
  },
  { text: "A-1 is paid. B-2 does not exist." },
);
const isLive = process.argv.includes("--live");
const adapter: ProviderAdapter = isLive ? new OpenAIAdapter({ model: "gpt-5.2" }) : script;

const session = new Session();
session.bus.subscribe("ToolInvoked", ({ name, result }) => {
  console.log(`${name} ${result.success ? "succeeded" : "failed"}: ${result.message}`);
});
const { text } = await adapter.evaluate(new Prompt(template), {
  session,
  input: "Pay A-1 and B-2.",
});
console.log(text);
// prints: read_invoice succeeded: OK
// prints: read_invoice failed: There is no invoice B-2. Invoices start with A-.
// prints: pay_invoice succeeded: Invoice A-1 is paid.
// prints: pay_invoice failed: The arguments do not fit the tool's parameters: id: Invalid input: expected string, received number
// prints: wait_for_bank failed: Tool "wait_for_bank" failed: the bank is closed
// prints: The ledger is closed.
// prints: A-1 is paid. B-2 does not exist.
