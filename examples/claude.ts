/** An agent on the Claude Agent SDK, with its own tool, Claude's native tools and a workspace. */
// needs: @anthropic-ai/claude-agent-sdk
import { fileURLToPath } from "node:url";
import {
  codeInterpreterTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { ClaudeAgentSDKAdapter, ClaudeAgentWorkspaceSection } from "weakincentives/claude";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import * as z from "zod";

const folder = fileURLToPath(new URL("greenhouse", import.meta.url));

const ringBell = new Tool({
  name: "ring_bell",
  description: "Wakes the gardener.",
  params: z.object({ reason: z.string() }),
  handler: ({ reason }) => ToolResult.ok({ rung: true }, `The bell rang: ${reason}`),
});

// With ANTHROPIC_API_KEY set, `new ClaudeAgentSDKAdapter()` is enough. This example runs against a
// local server with a scripted model. The SDK, its Bash and the files are real.
const warmest = `
import csv
rows = list(csv.DictReader(open("greenhouse/readings.csv")))
print(max(float(value) for row in rows for value in row.values() if value.replace(".", "").isdigit()))`;
const model = scriptedModel([
  [{ code: warmest }, { call: { name: "ring_bell", args: { reason: "it was too warm" } } }],
  [{ say: "I rang the bell." }],
]);
const provider = new LocalProvider({ model });
const { url } = await provider.listen();

const session = new Session();
const workspace = new ClaudeAgentWorkspaceSection({ session, mounts: [{ hostPath: folder }] });
try {
  const adapter = new ClaudeAgentSDKAdapter({
    model: "claude-sonnet-5",
    isolation: { baseURL: url.replace(/\/v1$/, ""), apiKey: "local" },
  });
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Look at the readings in greenhouse/, and ring the bell if it was above 30 degrees.",
    tools: [ringBell],
    hostedTools: [codeInterpreterTool()],
  });
  const template = new PromptTemplate({ ns: "night", key: "watch", sections: [task, workspace] });

  session.bus.subscribe("ToolInvoked", ({ name, result, origin }) =>
    console.log(`${name} ran ${origin ? "in Claude's process" : "here"}: ${result.message}`),
  );
  const { text } = await adapter.evaluate(new Prompt(template), { session });
  console.log(text);
} finally {
  await workspace.cleanup();
  await provider[Symbol.asyncDispose]();
}
// prints: code_interpreter ran in Claude's process: 31.5
// prints: ring_bell ran here: The bell rang: it was too warm
// prints: I rang the bell.
