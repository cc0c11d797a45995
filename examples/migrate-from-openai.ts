/** The same agent twice: as a loop around the `openai` package, and as a prompt. Both return the same plan. */
// needs: openai
import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { definePrompt, Session, Tool, ToolResult } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const model = "gpt-5.2";
const instructions = "Decide how many loaves to bake tonight. The shelf holds 15.";
const [question, followUp] = ["How many loaves of rye?", "And if 5 people ordered one?"];
const Kind = z.object({ kind: z.string() });
const Plan = z.object({ loaves: z.number(), reason: z.string() });
const stock = new Map([["rye", 3]]);

/** Before: you send requests until the model calls no more functions. */
async function planBefore(client: OpenAI) {
  let previous_response_id: string | null = null;
  const ask = async (content: string) => {
    let input: OpenAI.Responses.ResponseInput = [{ role: "user", content }];
    for (;;) {
      const response = await client.responses.parse({
        ...{ model, instructions, input, previous_response_id },
        tools: [zodResponsesFunction({ name: "count_loaves", parameters: Kind })],
        text: { format: zodTextFormat(Plan, "plan") },
      });
      previous_response_id = response.id;
      const calls = response.output.filter((item) => item.type === "function_call");
      if (calls.length === 0) return response.output_parsed;
      input = calls.map(({ call_id, arguments: json }) => {
        const left = stock.get(Kind.parse(JSON.parse(json)).kind);
        return { type: "function_call_output", call_id, output: JSON.stringify({ left }) };
      });
    }
  };
  return [await ask(question), await ask(followUp)];
}

/** After: the prompt has the tool and the schema, the adapter the loop, the session the conversation. */
async function planAfter(client: OpenAI) {
  const countLoaves = new Tool({
    name: "count_loaves",
    description: "Counts the loaves of one kind that are left.",
    params: Kind,
    handler: ({ kind }) => {
      const left = stock.get(kind);
      return left === undefined
        ? ToolResult.error(`There is no ${kind} bread.`)
        : ToolResult.ok({ left });
    },
  });
  const baker = definePrompt({ name: "baker", instructions, tools: [countLoaves], output: Plan });
  const adapter = new OpenAIAdapter({ model, client }); // or without `client`: the built-in one
  const session = new Session();
  const first = await adapter.evaluate(baker, { session, input: question });
  const second = await adapter.evaluate(baker, { session, input: followUp, continue: true });
  return [first.output, second.output];
}

// A scripted model answers both programs. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const turns = [
  [{ call: { name: "count_loaves", args: { kind: "rye" } } }],
  [{ say: { loaves: 12, reason: "3 of 15 are left." } }],
  [{ say: { loaves: 17, reason: "3 of 15 are left, and 5 are sold." } }],
];
const provider = new LocalProvider({ model: scriptedModel([...turns, ...turns]) });
const isLive = process.argv.includes("--live");
const client = isLive ? new OpenAI() : new OpenAI({ apiKey: "local", fetch: provider.fetch });
try {
  for (const plan of await planBefore(client)) console.log(`before: ${JSON.stringify(plan)}`);
  for (const plan of await planAfter(client)) console.log(`after:  ${JSON.stringify(plan)}`);
} finally {
  await provider.close();
}
// prints: before: {"loaves":12,"reason":"3 of 15 are left."}
// prints: before: {"loaves":17,"reason":"3 of 15 are left, and 5 are sold."}
// prints: after:  {"loaves":12,"reason":"3 of 15 are left."}
// prints: after:  {"loaves":17,"reason":"3 of 15 are left, and 5 are sold."}
