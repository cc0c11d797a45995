/** Shows what changed for callers in 0.2: failed code, the model's text, diffs and conflicts. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  codeInterpreterTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";
import * as z from "zod";

const folder = await mkdtemp(join(tmpdir(), "upgrade-"));
await writeFile(join(folder, "notes.txt"), "one\n");
await writeFile(join(folder, "plan.txt"), "one\n");

const session = new Session();
const workspace = new OpenAIContainerWorkspaceSection({
  session,
  mounts: [{ hostPath: folder, mountPath: "." }],
  allowedHostRoots: [folder],
  syncOnCleanup: true,
  syncDestination: folder,
});
const interpreter = codeInterpreterTool({ timeoutSeconds: 10 });
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Append a line to both files, with Python. It costs $5.", // a dollar sign is text without params
  hostedTools: [interpreter],
});
const output = z.object({ files: z.number() });
const sections = [task, workspace];
const prompt = new Prompt(new PromptTemplate({ ns: "upgrade", key: "notes", sections, output }));

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const model = scriptedModel([
  [{ code: "print(1 / 0)" }],
  [{ code: 'for name in ("notes.txt", "plan.txt"):\n  open(name, "a").write("two\\n")' }],
  [{ say: { files: 2 } }],
]);
const provider = new LocalProvider({ model });
try {
  const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
  const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
  const response = await adapter.evaluate(prompt, { session });
  console.log(response.hostedCalls.map(({ success }) => success));
  const [first] = response.hostedOutputs.get(interpreter)?.calls ?? [];
  console.log(first?.exitCode, first?.stderr.trim().split("\n").at(-1));
  console.log(response.text, response.output.files);

  await writeFile(join(folder, "plan.txt"), "mine\n"); // the user edits a file in the meantime
  const { files } = await workspace.diff();
  console.log(files.map(({ path, status }) => `${status} ${path}`).join(", "));
  const { changed, conflicts, conflictsDir } = await workspace.cleanup();
  console.log(changed, `conflicts: ${conflicts.map(({ path }) => path).join(", ")}`);
  console.log(`plan.txt: ${JSON.stringify(await readFile(join(folder, "plan.txt"), "utf8"))}`);
  if (conflictsDir) {
    const version = await readFile(join(conflictsDir, "plan.txt"), "utf8");
    console.log(`in conflictsDir: ${JSON.stringify(version)}`);
    await rm(conflictsDir, { recursive: true });
  }
} finally {
  await provider.close();
  await rm(folder, { recursive: true });
}
// prints: [ false, true ]
// prints: 1 ZeroDivisionError: division by zero
// prints: {"files":2} 2
// prints: changed notes.txt, changed plan.txt
// prints: [ 'notes.txt', 'plan.txt' ] conflicts: plan.txt
// prints: plan.txt: "mine\n"
// prints: in conflictsDir: "one\ntwo\n"
