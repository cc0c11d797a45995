/** Moves a workspace from the Claude adapter to an OpenAI container. The mounts stay the same. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { ClaudeAgentSDKAdapter, ClaudeAgentWorkspaceSection } from "weakincentives/claude";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";

const folder = await mkdtemp(join(tmpdir(), "repo-"));
await writeFile(join(folder, "README.md"), "# Vents\n");
await writeFile(join(folder, "vents.py"), "print('open')\n");

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const code = `
import pathlib
print(sorted(path.name for path in pathlib.Path("/mnt/data/repo").iterdir()))`;
const model = scriptedModel([[{ code }], [{ say: "Two files, and one of them is Python." }]]);
const provider = new LocalProvider({ model });
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };

// Both sections take the same options, and both adapters the same hosted tools.
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
  adapter: new OpenAIAdapter({ model: "gpt-5.2", hostedTools, clientConfig }),
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
  await provider.close();
  await rm(folder, { recursive: true });
}
// prints: Both mount the same files.
// prints: ['README.md', 'vents.py']
// prints: Two files, and one of them is Python.
