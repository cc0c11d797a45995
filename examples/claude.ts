/** An agent on the Claude Agent SDK, with its own tool, Claude's native tools and a workspace. */
// needs: @anthropic-ai/claude-agent-sdk
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

const folder = await mkdtemp(join(tmpdir(), "greenhouse-"));
await writeFile(join(folder, "readings.csv"), "time,inside\n18:00,24.5\n20:00,28.5\n22:00,31.5\n");

const ringBell = new Tool({
  name: "ring_bell",
  description: "Wakes the gardener.",
  params: z.object({ reason: z.string() }),
  handler: ({ reason }) => ToolResult.ok({ rung: true }, `The bell rang: ${reason}`),
});

// A scripted model answers on a local server; the SDK, its Bash and the files are real.
// With `--live`, Anthropic's API answers: set ANTHROPIC_API_KEY.
const warmest = `
import csv
print(max(float(row["inside"]) for row in csv.DictReader(open("greenhouse/readings.csv"))))`;
const model = scriptedModel([
  [{ code: warmest }, { call: { name: "ring_bell", args: { reason: "it was too warm" } } }],
  [{ say: "I rang the bell." }],
]);
const provider = new LocalProvider({ model });
const { url } = await provider.listen();
const isolation = process.argv.includes("--live")
  ? {}
  : { baseURL: url.replace(/\/v1$/, ""), apiKey: "local" };

const session = new Session();
const workspace = new ClaudeAgentWorkspaceSection({
  session,
  mounts: [{ hostPath: folder, mountPath: "greenhouse" }],
});
try {
  const adapter = new ClaudeAgentSDKAdapter({ model: "claude-sonnet-5", isolation });
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
  await provider.close();
  await rm(folder, { recursive: true });
}
// prints: code_interpreter ran in Claude's process: 31.5
// prints: ring_bell ran here: The bell rang: it was too warm
// prints: I rang the bell.
