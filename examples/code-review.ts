/** Reviews a host folder with Python that runs on a copy of the folder in a container. */
import { fileURLToPath } from "node:url";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  type WorkspaceSection,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";
import * as z from "zod";

const folder = fileURLToPath(new URL("greenhouse", import.meta.url));

/** You can use another adapter's section here: all of them take the same mounts and roots. */
function createWorkspace(session: Session): WorkspaceSection {
  const excludeGlob = [".git/*", "node_modules/*", "*.pyc"];
  return new OpenAIContainerWorkspaceSection({
    session,
    mounts: [{ hostPath: folder, mountPath: "project", excludeGlob, maxBytes: 20_000_000 }],
    allowedHostRoots: [folder],
  });
}

// With OPENAI_API_KEY set, `new OpenAIAdapter({ model, hostedTools })` is enough. Here the model is
// scripted. The container, its files and the Python code are real.
const model = scriptedModel([
  [
    {
      code: `
import ast, pathlib
for path in sorted(pathlib.Path("/mnt/data/project").rglob("*.py")):
    source = path.read_text()
    names = [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    print(f"{path.name} has {len(source.splitlines())} lines and the functions {names}")
    exec(source)
print(f"opening(20, 28) is {opening(20, 28)}, opening(31.5, 28) is {opening(31.5, 28)}")`,
    },
  ],
  [
    {
      say: {
        summary: "One small, well-written module with one bug.",
        issues: ["opening() returns values below 0 and above 100 percent."],
        suggestions: ["Clamp the result to 0–100."],
      },
    },
  ],
]);
const provider = new LocalProvider({ model });
const session = new Session();
const workspace = createWorkspace(session);
try {
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    hostedTools: { codeInterpreter: true },
    clientConfig: { fetch: provider.fetch },
  });
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Review the Python code in project/. Read it and try it out with Python.",
  });
  const output = z.object({
    summary: z.string(),
    issues: z.array(z.string()),
    suggestions: z.array(z.string()),
  });
  const sections = [task, workspace];
  const template = new PromptTemplate({ ns: "review", key: "code", sections, output });

  session.bus.subscribe("ToolInvoked", ({ result }) => console.log(result.message.trim()));
  const { output: review } = await adapter.evaluate(new Prompt(template), { session });
  console.log(review.summary);
  for (const issue of review.issues) console.log(`- ${issue}`);
} finally {
  await workspace.cleanup();
  await provider[Symbol.asyncDispose]();
}
// prints: vents.py has 8 lines and the functions ['opening']
// prints: opening(20, 28) is -320, opening(31.5, 28) is 140
// prints: One small, well-written module with one bug.
// prints: - opening() returns values below 0 and above 100 percent.
