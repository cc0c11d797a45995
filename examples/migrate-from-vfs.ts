/** Moves an agent from in-memory files, which the model reads with tools, to a container with Python. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type Section,
  Session,
  VfsToolsSection,
} from "weakincentives";
import { InMemoryFilesystem } from "weakincentives/files";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";
import * as z from "zod";

const folder = await mkdtemp(join(tmpdir(), "greenhouse-"));
await writeFile(join(folder, "readings.csv"), "time,inside\n20:00,28.5\n22:00,31.5\n");
const session = new Session();

// Before: the files are copied into memory, and tools can only return their text.
const filesystem = new InMemoryFilesystem();
const readings = await readFile(join(folder, "readings.csv"), "utf8");
await filesystem.writeText("data/readings.csv", readings);
const before = new VfsToolsSection({ filesystem });

// After: the folder is mounted, and code runs on the files.
const after = new OpenAIContainerWorkspaceSection({
  session,
  mounts: [{ hostPath: folder, mountPath: "data" }],
  allowedHostRoots: [folder],
});

// To keep the file tools too, add `new VfsToolsSection({ filesystem: after.filesystem })`.

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const code = `
import csv
rows = csv.DictReader(open("/mnt/data/data/readings.csv"))
print("warmest:", max(float(row["inside"]) for row in rows))`;
const model = scriptedModel([
  [{ call: { name: "read", args: { path: "data/readings.csv" } } }],
  [{ say: { warmest: 31.5 } }],
  [{ code }],
  [{ say: { warmest: 31.5 } }],
]);
const provider = new LocalProvider({ model });
try {
  // The adapter also needs the code interpreter.
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    hostedTools: { codeInterpreter: true },
    clientConfig: process.argv.includes("--live") ? {} : { fetch: provider.fetch },
  });
  session.bus.subscribe("ToolInvoked", ({ name, result, renderedOutput }) => {
    const text = result.message || renderedOutput;
    console.log(`${name}: ${text.trim().split("\n").at(-1)}`);
  });
  const answers = [];
  for (const files of [before, after]) {
    const { output } = await adapter.evaluate(warmest(files), { session });
    answers.push(output.warmest);
  }
  console.log(`before ${answers[0]} °C, after ${answers[1]} °C`);
} finally {
  await after.cleanup();
  await provider.close();
  await rm(folder, { recursive: true });
}

/** The same task for both kinds of files. */
function warmest(files: Section) {
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "How warm did it get, by data/readings.csv?",
  });
  const output = z.object({ warmest: z.number() });
  const sections = [task, files];
  return new Prompt(new PromptTemplate({ ns: "greenhouse", key: "warmest", sections, output }));
}
// prints: read: 22:00,31.5
// prints: code_interpreter: warmest: 31.5
// prints: before 31.5 °C, after 31.5 °C
