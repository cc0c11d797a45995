import { join } from "node:path";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Tool,
  ToolResult,
} from "../../../../src/index.ts";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "../../../../src/openai/index.ts";
import type { CrashChild } from "../crash-child.ts";
import type { CrashSubject } from "../crash-subject.ts";

/**
 * OpenAI's adapter and a workspace whose files are kept, on the local provider at the detail `url`. The detail `mode`
 * may be "zdr" for zero data retention, or "background"; the detail `kept` is the folder for the files.
 */
export function createCrashSubject(child: CrashChild): CrashSubject {
  const { folder, details, ledger, session } = child;
  const { url, mode, kept = join(folder, "kept") } = details;
  const workspace = new OpenAIContainerWorkspaceSection({
    session,
    mounts: [{ hostPath: join(folder, "mount"), mountPath: "p" }],
    allowedHostRoots: [folder],
    persistDir: kept,
    syncDestination: join(folder, "result"),
    syncOnCleanup: true,
  });
  const append = new Tool({
    name: "append",
    description: "Appends a line.",
    params: null,
    effects: "idempotent",
    handler: async (_, { filesystem, callKey }) => {
      const before = (await filesystem?.readText("p/log.txt")) ?? "";
      await filesystem?.writeText("p/log.txt", `${before}line\n`);
      ledger.add({ what: "effect", tool: "append", key: callKey });
      await child.reach("after append");
      return ToolResult.ok(null, "Appended.");
    },
  });
  const task = { key: "task", title: "Task", template: "Do it.", tools: [append] };
  const sections = [new MarkdownSection(task), workspace];
  return {
    adapter: new OpenAIAdapter({
      model: "local",
      clientConfig: { baseURL: url, apiKey: "local" },
      hostedTools: { codeInterpreter: true },
      compaction: { zdrMode: mode === "zdr" },
      ...(mode === "background" && { delivery: mode }),
    }),
    prompt: new Prompt(new PromptTemplate({ ns: "crash", key: "files", sections })),
    close: async () => {
      await workspace.cleanup();
    },
  };
}
