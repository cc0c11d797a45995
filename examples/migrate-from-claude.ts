/** Moves a workspace from the Claude adapter to an OpenAI container. The mounts stay the same. */
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { ClaudeAgentSDKAdapter, ClaudeAgentWorkspaceSection } from "weakincentives/claude";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";

const code = `
import pathlib
print(sorted(path.name for path in pathlib.Path("/mnt/data/repo").iterdir()))`;
const model = scriptedModel([[{ code }], [{ say: "Five files, and one of them is Python." }]]);
const provider = new LocalProvider({ model });

// Both sections take the same options, and both adapters the same hosted tools.
const folder = fileURLToPath(new URL("greenhouse", import.meta.url));
const session = new Session();
const excludeGlob = [".git/*", "__pycache__/*"];
const options = {
  session,
  mounts: [{ hostPath: folder, mountPath: "repo", excludeGlob, maxBytes: 10_000_000 }],
  allowedHostRoots: [folder],
};
const hostedTools = { codeInterpreter: true };

// Before: Claude's tools work on a copy of the files on the host.
const before = {
  workspace: new ClaudeAgentWorkspaceSection(options),
  adapter: new ClaudeAgentSDKAdapter({ model: "claude-sonnet-5", hostedTools }),
};

// After: Python works on a copy of the files in a container.
const after = {
  workspace: new OpenAIContainerWorkspaceSection(options),
  adapter: new OpenAIAdapter({
    model: "gpt-5.2",
    hostedTools,
    clientConfig: { fetch: provider.fetch },
  }),
};

try {
  const isSame = isDeepStrictEqual(before.workspace.mountPreviews, after.workspace.mountPreviews);
  console.log(`${isSame ? "Both mount the same files" : "The mounts differ"}.`);
  // The prompt is the same with `before`, which needs the Claude Agent SDK and a key to run.
  const { workspace, adapter } = after;
  const task = new MarkdownSection({ key: "task", title: "Task", template: "What is in repo/?" });
  const template = new PromptTemplate({ ns: "any", key: "look", sections: [task, workspace] });
  session.bus.subscribe("ToolInvoked", ({ result }) => console.log(result.message.trim()));
  const { text } = await adapter.evaluate(new Prompt(template), { session });
  console.log(text);
} finally {
  await before.workspace.cleanup();
  await after.workspace.cleanup();
  await provider[Symbol.asyncDispose]();
}
// prints: Both mount the same files.
// prints: ['README.md', 'limits.json', 'night-log.md', 'readings.csv', 'vents.py']
// prints: Five files, and one of them is Python.
