/** Shows a section as a summary until the model opens it, and offers its tool only then. */
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const refund = new Tool({
  name: "refund",
  description: "Refunds an order.",
  params: z.object({ order: z.string() }),
  handler: ({ order }) => ToolResult.ok({ order, refunded: true }),
});
const template = new PromptTemplate({
  ns: "bakery",
  key: "support",
  sections: [
    new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Answer the customers of a bakery.",
    }),
    new MarkdownSection({
      key: "refunds",
      title: "Refunds",
      summary: "How and when to refund an order.",
      visibility: "summary",
      template: "Refund an order once, within 14 days. Apologize first.",
      tools: [refund],
    }),
  ],
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const script = scriptedClient(
  {
    toolCalls: [
      { name: "open_sections", arguments: { section_keys: ["refunds"], reason: "A complaint." } },
    ],
  },
  { toolCalls: [{ name: "refund", arguments: { order: "A-17" } }] },
  { text: "I am sorry about the burnt bread. I have refunded order A-17." },
);
const isLive = process.argv.includes("--live");
const adapter: ProviderAdapter = isLive ? new OpenAIAdapter({ model: "gpt-5.2" }) : script;

const session = new Session();
session.bus.subscribe("PromptRendered", ({ text, tools }) => {
  const names = tools.map(({ name }) => name).join(", ");
  console.log(`Tools: ${names}. Rules shown: ${text.includes("within 14 days")}`);
});
const { text } = await adapter.evaluate(new Prompt(template), {
  session,
  input: "Order A-17 was burnt. I want my money back.",
});
console.log(text);
// prints: Tools: open_sections. Rules shown: false
// prints: Tools: refund. Rules shown: true
// prints: I am sorry about the burnt bread. I have refunded order A-17.
