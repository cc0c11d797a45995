import { ClaudeAgentSDKAdapter, ClaudeAgentWorkspaceSection } from "../../src/claude/index.ts";
import { codeInterpreterTool, MarkdownSection, Session } from "../../src/index.ts";
import { LocalProvider, scriptedModel } from "../../src/local/index.ts";
import type { EnteredFiles } from "./entered-files.ts";
import { codeIn, folderToMount, promptWith, scriptWith } from "./scenario.ts";

/** The same evaluation on the Claude Agent SDK. */
export async function traceClaude(start: () => EnteredFiles): Promise<EnteredFiles> {
  const folder = folderToMount();
  const model = scriptedModel(scriptWith(codeIn("")));
  await using provider = new LocalProvider({ model });
  const { url } = await provider.listen();
  const session = new Session();
  await using workspace = new ClaudeAgentWorkspaceSection({
    session,
    mounts: [{ hostPath: folder.path, mountPath: "notes" }],
  });
  const code = new MarkdownSection({
    key: "code",
    title: "Code",
    template: "Run code.",
    hostedTools: [codeInterpreterTool()],
  });
  const adapter = new ClaudeAgentSDKAdapter({
    model: "claude-sonnet-5",
    isolation: { baseURL: url.replace(/\/v1$/, ""), apiKey: "local" },
  });
  const prompt = promptWith(code, workspace);
  const entered = start();
  session.bus.subscribe("*", ({ type }) => entered.mark(type));
  await adapter.evaluate(prompt, { session });
  entered.mark("end");
  folder.remove();
  return entered;
}
