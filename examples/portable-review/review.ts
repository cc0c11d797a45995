import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  codeInterpreterTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Tool,
  ToolResult,
  type WorkspaceSection,
} from "weakincentives";
import type { HostMount } from "weakincentives/files";
import { type ModelAction, scriptedModel } from "weakincentives/local";
import * as z from "zod";

// The agent. It does not depend on a runtime.

const vents = `def opening(inside, warmest):
    """Returns how far to open the vents, in percent."""
    return round((inside - warmest) * 40)
`;

/** Writes the project to a folder, and returns its mounts. */
export async function createMounts(folder: string): Promise<readonly HostMount[]> {
  const hostPath = join(folder, "project");
  await mkdir(hostPath);
  await writeFile(join(hostPath, "vents.py"), vents);
  return [{ hostPath, excludeGlob: ["*.pyc"], maxBytes: 1_000_000 }];
}

const Fault = z.object({ file: z.string(), fault: z.string() });
const Verdict = z.object({ summary: z.string(), faults: z.number(), mayShip: z.boolean() });

/** Writes to the workspace, where the model's code can read the file. It is synced at cleanup. */
const reportFault = new Tool({
  name: "report_fault",
  description: "Adds one fault to project/REVIEW.md.",
  params: Fault,
  async handler({ file, fault }, { filesystem }) {
    const path = "project/REVIEW.md";
    const before = (await filesystem?.exists(path)) ? await filesystem?.readText(path) : "";
    await filesystem?.writeText(path, `${before ?? ""}- ${file}: ${fault}\n`);
    return ToolResult.ok({ file, fault }, `Noted a fault of ${file}.`);
  },
});

/** The instructions are system text. The gardener's complaint is a user message. */
export function createReviewPrompt(workspace: WorkspaceSection): Prompt<z.infer<typeof Verdict>> {
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Review the Python code in project/. Try it out, and report each fault you find.",
    tools: [reportFault],
    hostedTools: [codeInterpreterTool()],
  });
  const complaint = new MarkdownSection({
    key: "complaint",
    title: "The gardener's complaint",
    role: "user",
    template: "$complaint",
    params: z.object({ complaint: z.string() }),
  });
  const sections = [task, workspace, complaint];
  return new Prompt(
    new PromptTemplate({ ns: "portable", key: "review", sections, output: Verdict }),
  ).bind({ complaint: "The vents want to open further than they can." });
}

/** The input of the evaluation, which follows the prompt. */
export const question = "May we ship it?";

// The scripted model, for both runtimes. Files, code and tools are real.

const tryOut = `
import os, runpy
root = "/mnt/data" if os.path.isdir("/mnt/data/project") else "."
opening = runpy.run_path(f"{root}/project/vents.py")["opening"]
print(f"opening(20, 28) is {opening(20, 28)}, opening(31.5, 28) is {opening(31.5, 28)}")`;

const readBack = `
import os
root = "/mnt/data" if os.path.isdir("/mnt/data/project") else "."
print(open(f"{root}/project/REVIEW.md").read().strip())`;

const fault = (words: string): ModelAction => ({
  call: { name: "report_fault", args: { file: "vents.py", fault: words } },
});

const script: readonly (readonly ModelAction[])[] = [
  [{ code: tryOut }, fault("opening() gives less than 0 percent")],
  [{ code: readBack }, fault("opening() gives more than 100 percent")],
  [{ say: { summary: "One fault, seen twice.", faults: 2, mayShip: false } }],
];

export const model = () => scriptedModel(script.map((step) => [...step]));
