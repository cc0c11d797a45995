import { ClaudeAgentSDKAdapter, ClaudeAgentWorkspaceSection } from "../../src/claude/index.ts";
import { codeInterpreterTool, MarkdownSection, Session } from "../../src/index.ts";
import { LocalProvider, scriptedModel } from "../../src/local/index.ts";
import type { EnteredFiles, EnteredPart } from "./entered-files.ts";
import { codeIn, folderToMount, promptWith, scriptWith, traceEvaluation } from "./scenario.ts";

/** The same evaluation on the Claude Agent SDK. */
export async function traceClaude(start: () => EnteredFiles): Promise<readonly EnteredPart[]> {
  const folder = folderToMount();
  const model = scriptedModel(scriptWith(codeIn(""), 100_000));
  await using provider = new LocalProvider({ model });
  const { url } = await provider.listen();
  const session = new Session();
  await using workspace = new ClaudeAgentWorkspaceSection({
    session,
    mounts: [{ hostPath: folder, mountPath: "notes" }],
  });
  const code = new MarkdownSection({
    key: "code",
    title: "Code",
    template: "Run code.",
    hostedTools: [codeInterpreterTool()],
  });
  const adapter = new ClaudeAgentSDKAdapter({
    model: "claude-sonnet-5",
    // The smallest window that the SDK compacts in.
    env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" },
    isolation: { baseURL: url.replace(/\/v1$/, ""), apiKey: "local" },
  });
  const prompt = promptWith(code, workspace);
  return await traceEvaluation(adapter, prompt, session, start);
}
