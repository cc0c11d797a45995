/** From the Claude adapter's workspace to a container of OpenAI's: the mounts stay as they are. */
import { fileURLToPath } from "node:url";
import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import type { HostMount } from "weakincentives/files";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";

// What both sections take.
const allowedHostRoots = [fileURLToPath(new URL("greenhouse", import.meta.url))];
const mounts: readonly HostMount[] = allowedHostRoots.map((hostPath) => ({
  hostPath,
  mountPath: "repo",
  excludeGlob: [".git/*", "__pycache__/*"],
  maxBytes: 10_000_000,
}));

const code = `
import pathlib
print(sorted(path.name for path in pathlib.Path("/mnt/data/repo").iterdir()))`;
const model = scriptedModel([[{ code }], [{ say: "Five files, and one of them is Python." }]]);
const provider = new LocalProvider({ model });

const session = new Session();
// Two lines differ: with Claude's adapter they make a `ClaudeAgentWorkspaceSection` of the same
// options, and the adapter of that section, which has an interpreter of its own.
const workspace = new OpenAIContainerWorkspaceSection({ session, mounts, allowedHostRoots });
const adapter = new OpenAIAdapter({
  model: "gpt-5.2",
  hostedTools: { codeInterpreter: true },
  clientConfig: { fetch: provider.fetch },
});
try {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "What is in repo/?" });
  const template = new PromptTemplate({ ns: "any", key: "look", sections: [task, workspace] });
  session.bus.subscribe("ToolInvoked", ({ result }) => console.log(result.message.trim()));
  const { text } = await adapter.evaluate(new Prompt(template), { session });
  console.log(text);
} finally {
  await workspace.cleanup();
  await provider[Symbol.asyncDispose]();
}
// prints: ['README.md', 'limits.json', 'night-log.md', 'readings.csv', 'vents.py']
// prints: Five files, and one of them is Python.
