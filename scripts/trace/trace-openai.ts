// They are imported with the first evaluation, which would count as entering files that only define something.
import "../../src/adapter/evaluate.ts";
import "../../src/openai/conversation/conversation.ts";
import { Session } from "../../src/index.ts";
import { LocalProvider, scriptedModel } from "../../src/local/index.ts";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "../../src/openai/index.ts";
import type { EnteredFiles, EnteredPart } from "./entered-files.ts";
import { codeIn, folderToMount, promptWith, scriptWith, traceEvaluation } from "./scenario.ts";

/** One evaluation on OpenAI's adapter, with a workspace, code, tool calls and a compaction. */
export async function traceOpenAI(start: () => EnteredFiles): Promise<readonly EnteredPart[]> {
  const folder = folderToMount();
  const model = scriptedModel(scriptWith(codeIn("/mnt/data/"), 5_000));
  await using provider = new LocalProvider({ model });
  const { url: baseURL } = await provider.listen();
  const session = new Session();
  await using workspace = new OpenAIContainerWorkspaceSection({
    session,
    mounts: [{ hostPath: folder, mountPath: "notes" }],
    allowedHostRoots: [folder],
  });
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    clientConfig: { baseURL, apiKey: "local" },
    hostedTools: { codeInterpreter: true },
    compaction: { thresholdTokens: 3_000 },
  });
  const prompt = promptWith(workspace);
  await workspace.workspace.load(); // it is created when it is first used, and would count as entered with all its parts
  return await traceEvaluation(adapter, prompt, session, start);
}
