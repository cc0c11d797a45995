/** Refunds small amounts at once, and asks a person before it refunds large ones. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ApprovalRequest,
  definePrompt,
  EvaluationParkedError,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const refund = new Tool({
  name: "refund",
  description: "Refunds an order.",
  params: z.strictObject({ order: z.string(), euros: z.number() }),
  needsApproval: ({ euros }) => euros > 50,
  handler: ({ order, euros }) => {
    console.log(`Refunded ${euros} euros for ${order}`);
    return ToolResult.ok(null, "Refunded.");
  },
});
const support = definePrompt({
  name: "support",
  instructions: "Refund the orders A-1 (20 euros), A-2 (80 euros) and A-3 (900 euros) in one turn.",
  tools: [refund],
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const orders = Object.entries({ "A-1": 20, "A-2": 80, "A-3": 900 });
const isLive = process.argv.includes("--live");
const adapter: ProviderAdapter = isLive
  ? new OpenAIAdapter({ model: "gpt-5.2" })
  : scriptedClient(
      {
        toolCalls: orders.map(([order, euros]) => ({
          name: "refund",
          arguments: { order, euros },
        })),
      },
      ({ answers }) => ({ text: answers.map(({ text }) => text).join("\n") }),
    );

/** Decides at once about amounts up to 100 euros, and leaves larger ones to a person. */
async function approve({ name, params }: ApprovalRequest): Promise<"approve" | "park"> {
  const { euros } = Object(params);
  console.log(`May I call ${name} with ${euros} euros?`);
  return euros <= 100 ? "approve" : "park";
}

const folder = await mkdtemp(join(tmpdir(), "refunds-"));
const store = new JsonlSessionStore(folder);
const session = await Session.openOrCreate(store, "refunds");
try {
  const { text } = await adapter.evaluate(support, { session, approve });
  console.log(text);
} catch (error) {
  if (!(error instanceof EvaluationParkedError)) throw error;
  console.log(`Parked: ${error.approvals.map(({ params }) => Object(params).order).join(", ")}`);
  // The next morning, in this or another process, a person has decided:
  const approvals = Object.fromEntries(error.approvals.map(({ key }) => [key, "deny" as const]));
  const { text } = await adapter.evaluate(support, { session, resume: true, approvals });
  console.log(text);
} finally {
  await store.close();
  await rm(folder, { recursive: true });
}
// prints: Refunded 20 euros for A-1
// prints: May I call refund with 80 euros?
// prints: Refunded 80 euros for A-2
// prints: May I call refund with 900 euros?
// prints: Parked: A-3
// prints: Refunded.
// prints: Refunded.
// prints: The call was not made: it was denied. Do not repeat it. Continue without it, or say what you need it for.
