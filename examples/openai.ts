import {
  codeInterpreterTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
  WebSearchSection,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";
import { createCannedOpenAI, createMessage } from "./support/canned-openai.ts";

const sales = new Tool({
  name: "read_sales",
  description: "Reads the sales of one month.",
  params: z.object({ month: z.string() }),
  handler: ({ month }) => ToolResult.ok({ month, total: 12 }),
});
const python = codeInterpreterTool({ container: { type: "auto", memoryLimit: "4g" } });
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template:
    "Read the sales of $month, work out the yearly rate with Python, compare with the press.",
  params: z.object({ month: z.string() }),
  tools: [sales],
  hostedTools: [python],
});
const output = z.object({ yearlyRate: z.number(), verdict: z.string() });
const search = new WebSearchSection({ domainFilter: { allowed: ["news.example"] } });
const template = new PromptTemplate({ ns: "shop", key: "rate", sections: [task, search], output });

// With OPENAI_API_KEY set, `new OpenAIAdapter({ model })` is enough. Here the responses are canned.
const fetch = createCannedOpenAI([
  [{ type: "function_call", call_id: "call_1", name: "read_sales", arguments: '{"month":"May"}' }],
  [
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } },
    {
      ...{ type: "code_interpreter_call", id: "ci_1", status: "completed", code: "print(12 * 12)" },
      ...{ container_id: "cntr_1", outputs: [{ type: "logs", logs: "144\n" }] },
    },
    createMessage('{"yearlyRate":144,"verdict":"above the forecast"}'),
  ],
]);
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig: { fetch } });

const session = new Session();
session.bus.subscribe("ToolInvoked", ({ name, origin }) =>
  console.log(`${name} ran ${origin ? `at ${origin.provider}` : "here"}`),
);
const response = await adapter.evaluate(new Prompt(template).bind({ month: "May" }), { session });
console.log(`${response.output.yearlyRate} a year: ${response.output.verdict}`);
console.log(`Python said ${response.hostedOutputs.get(python)?.stdout.trim()}`);
// prints: read_sales ran here
// prints: web_search ran at openai
// prints: code_interpreter ran at openai
// prints: 144 a year: above the forecast
// prints: Python said 144
