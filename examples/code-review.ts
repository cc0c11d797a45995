/** Reviews a folder of code with Python that runs on a copy of the folder in a container. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";
import * as z from "zod";

// The code to review, and a file that must not leave the host.
const folder = await mkdtemp(join(tmpdir(), "review-"));
const vents = `def opening(inside, warmest):
    """Returns how far to open the vents, in percent."""
    return round((inside - warmest) * 40)
`;
await writeFile(join(folder, "vents.py"), vents);
await writeFile(join(folder, ".env"), "GATEWAY_KEY=example\n");

// A scripted model answers; the container, its files and the Python code are real.
// With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
const code = `
import runpy, pathlib
for path in sorted(pathlib.Path("/mnt/data/project").rglob("*")):
    print(path)
opening = runpy.run_path("/mnt/data/project/vents.py")["opening"]
print(f"opening(20, 28) is {opening(20, 28)}, opening(31.5, 28) is {opening(31.5, 28)}")`;
const answer = {
  summary: "One small module with one bug.",
  issues: ["opening() returns values below 0 and above 100 percent."],
};
const provider = new LocalProvider({ model: scriptedModel([[{ code }], [{ say: answer }]]) });
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({
  model: "gpt-5.2",
  hostedTools: { codeInterpreter: true },
  clientConfig,
});

const session = new Session();
const workspace = new OpenAIContainerWorkspaceSection({
  session,
  mounts: [{ hostPath: folder, mountPath: "project", excludeGlob: [".git", "node_modules"] }],
  allowedHostRoots: [folder],
});
try {
  for (const { skipped } of workspace.mountPreviews)
    for (const { path, reason } of skipped) console.log(`stays on the host: ${path} (${reason})`);

  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Review the Python code in project/. Read it and try it out with Python.",
  });
  const output = z.object({ summary: z.string(), issues: z.array(z.string()) });
  const sections = [task, workspace];
  const template = new PromptTemplate({ ns: "review", key: "code", sections, output });

  session.bus.subscribe("ToolInvoked", ({ result }) => console.log(result.message.trim()));
  const { output: review } = await adapter.evaluate(new Prompt(template), { session });
  console.log(review.summary);
  for (const issue of review.issues) console.log(`- ${issue}`);
} finally {
  await workspace.cleanup();
  await provider.close();
  await rm(folder, { recursive: true });
}
// prints: stays on the host: .env (has a name that is common for key files)
// prints: /mnt/data/project/vents.py
// prints: opening(20, 28) is -320, opening(31.5, 28) is 140
// prints: One small module with one bug.
// prints: - opening() returns values below 0 and above 100 percent.
