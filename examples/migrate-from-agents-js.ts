/** The same two agents twice: with a handoff in the Agents SDK, and with a tool that evaluates a prompt. */
// needs: openai
// needs: @openai/agents
import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents";
import OpenAI from "openai";
import { definePrompt, Tool, ToolResult } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const model = "gpt-5.2";
const complaint = "Order 7 was stale.";
const Refund = z.object({ order: z.number(), euros: z.number() });
const description = "Refunds an order, up to 20 euros.";
const refuse = "A person must approve more than 20 euros.";

/** Before: the front agent hands the conversation over, and the last agent answers. */
async function answerBefore(client: OpenAI) {
  const refund = tool({
    name: "refund",
    description,
    parameters: Refund,
    execute: ({ order, euros }) => (euros > 20 ? refuse : `Refunded ${euros} for order ${order}.`),
  });
  const instructions = "You settle complaints.";
  const desk = new Agent({ name: "Desk", instructions, tools: [refund], model });
  const front = Agent.create({
    name: "Front",
    instructions: "You welcome customers, and hand complaints to the desk.",
    handoffs: [desk],
    model,
  });
  const modelProvider = new OpenAIProvider({ openAIClient: client });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const { finalOutput, lastAgent } = await runner.run(front, complaint, { maxTurns: 10 });
  return `${lastAgent?.name} said: ${finalOutput}`;
}

/** After: the front agent calls a tool that evaluates the desk's prompt, and answers itself. */
async function answerAfter(client: OpenAI) {
  const refund = new Tool({
    name: "refund",
    description,
    params: Refund,
    handler: ({ order, euros }) =>
      euros > 20 ? ToolResult.error(refuse) : ToolResult.ok({ order, euros }),
  });
  const desk = definePrompt({
    name: "shop:desk",
    instructions: "You settle complaints.",
    tools: [refund],
    output: z.object({ refunded: z.number(), reply: z.string() }),
  });
  const askDesk = new Tool({
    name: "ask_desk",
    description: "Passes a complaint to the desk, which may refund the order.",
    params: z.object({ complaint: z.string() }),
    handler: async ({ complaint }, { adapter, signal }) => {
      const { output } = await adapter.evaluate(desk, { input: complaint, signal });
      return ToolResult.ok(output); // typed: the front agent gets two fields, not a conversation
    },
  });
  const front = definePrompt({
    name: "shop:front",
    instructions: "You welcome customers, and pass complaints to the desk.",
    tools: [askDesk],
  });
  const adapter = new OpenAIAdapter({ model, client });
  const { text } = await adapter.evaluate(front, { input: complaint, maxTurns: 10 });
  return `Front said: ${text}`;
}

// A scripted model answers both programs. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const reply = "Sorry! You get 4 euros back.";
const script = scriptedModel([
  [{ call: { name: "transfer_to_Desk", args: {} } }],
  [{ call: { name: "refund", args: { order: 7, euros: 4 } } }],
  [{ say: reply }],
  [{ call: { name: "ask_desk", args: { complaint } } }],
  [{ call: { name: "refund", args: { order: 7, euros: 4 } } }],
  [{ say: { refunded: 4, reply } }],
  [{ say: reply }],
]);
const provider = new LocalProvider({ model: script });
const isLive = process.argv.includes("--live");
const client = isLive ? new OpenAI() : new OpenAI({ apiKey: "local", fetch: provider.fetch });
try {
  console.log(`before: ${await answerBefore(client)}`);
  console.log(`after:  ${await answerAfter(client)}`);
} finally {
  await provider.close();
}
// prints: before: Desk said: Sorry! You get 4 euros back.
// prints: after:  Front said: Sorry! You get 4 euros back.
