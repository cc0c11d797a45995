import * as openai from "weakincentives/openai";
import { aborted, evaluateUntilAborted, ignoreAbort, type Row, session } from "./row.ts";

const client = openai.openAIClient({ apiKey: "k", baseURL: "http://127.0.0.1:9/v1" });
const adapter = new openai.OpenAIAdapter({ model: "gpt-5.2", client });
const withModel = (o: object) => new openai.OpenAIAdapter({ model: "gpt-5.2", client, ...o });

/** `weakincentives/openai`. */
export const openaiRows: readonly Row[] = [
  ["OpenAIAdapter", "modle", "model", (o) => withModel(o)],
  ["OpenAIAdapter", "clientconfig", "clientConfig", (o) => withModel(o)],
  ["OpenAIAdapter.modelConfig", "temprature", "temperature", (o) => withModel({ modelConfig: o })],
  [
    "OpenAIAdapter.modelConfig.reasoning",
    "efort",
    "effort",
    (o) => withModel({ modelConfig: { reasoning: o } }),
  ],
  [
    "OpenAIAdapter.compaction",
    "tresholdTokens",
    "thresholdTokens",
    (o) => withModel({ compaction: o }),
  ],
  [
    "OpenAIAdapter.hostedTools",
    "codeInterpeter",
    "codeInterpreter",
    (o) => withModel({ hostedTools: o }),
  ],
  ["throttle", "maxAttempt", "maxAttempts", (o) => withModel({ throttle: o })],
  ["clientConfig", "apikey", "apiKey", (o) => openai.openAIClient({ apiKey: "k", ...Object(o) })],
  [
    "evaluate(options)",
    "alowHostedTools",
    "allowHostedTools",
    (o) => evaluateUntilAborted(adapter, o),
  ],
  [
    "OpenAIAdapter.downloadFile(options)",
    "singal",
    "signal",
    (o) => {
      const citation = { type: "file", fileId: "file_1", filename: "a", index: 0, span: null };
      const options = { signal: aborted, ...Object(o) };
      return ignoreAbort(adapter.downloadFile(citation as never, options));
    },
  ],
  [
    "uploadFile(options)",
    "purpos",
    "purpose",
    (o) => ignoreAbort(openai.uploadFile(client, "README.md", { signal: aborted, ...Object(o) })),
  ],
  [
    "OpenAICodeInterpreterTool",
    "handlr",
    "handler",
    (o) => new openai.OpenAICodeInterpreterTool(o),
  ],
  [
    'OpenAICodeInterpreterTool "code_interpreter" container',
    "memorylimit",
    "memoryLimit",
    (o) => new openai.OpenAICodeInterpreterTool({ container: { type: "auto", ...Object(o) } }),
  ],
  ["OpenAIFileSearchSection", "modle", "model", (o) => new openai.OpenAIFileSearchSection(o)],
  [
    "OpenAIFileSearchSection",
    "modle",
    "model",
    (o) => new openai.OpenAIFileSearchSection().clone(o),
  ],
  [
    'Section "openai_file_search" defaultParams',
    "corpusId",
    "corpusIds",
    (o) => new openai.OpenAIFileSearchSection({ defaultParams: o }),
  ],
  ["OpenAIWebSearchSection", "enabeld", "enabled", (o) => new openai.OpenAIWebSearchSection(o)],
  [
    "OpenAIWebSearchSection",
    "enabeld",
    "enabled",
    (o) => new openai.OpenAIWebSearchSection().clone(o),
  ],
  [
    "OpenAICodeInterpreterSection",
    "defaultParam",
    "defaultParams",
    (o) => new openai.OpenAICodeInterpreterSection(o),
  ],
  [
    "OpenAICodeInterpreterSection",
    "defaultParam",
    "defaultParams",
    (o) => new openai.OpenAICodeInterpreterSection().clone(o),
  ],
  ["OpenAIShellSection", "executer", "executor", (o) => new openai.OpenAIShellSection(o)],
  ["OpenAIShellSection", "executer", "executor", (o) => new openai.OpenAIShellSection().clone(o)],
  [
    "OpenAIApplyPatchSection",
    "fileSystem",
    "filesystem",
    (o) => new openai.OpenAIApplyPatchSection(o),
  ],
  [
    "OpenAIApplyPatchSection",
    "fileSystem",
    "filesystem",
    (o) => new openai.OpenAIApplyPatchSection().clone(o),
  ],
  [
    "OpenAIContainerWorkspaceSection",
    "syncOnCleanUp",
    "syncOnCleanup",
    (o) => new openai.OpenAIContainerWorkspaceSection({ session, ...Object(o) }),
  ],
  [
    "OpenAIContainerWorkspaceSection",
    "titel",
    "title",
    (o) => new openai.OpenAIContainerWorkspaceSection({ session }).clone(o),
  ],
  [
    "OpenAIContainerWorkspaceSection.containerConfig",
    "expireAfterMinutes",
    "expiresAfterMinutes",
    (o) => new openai.OpenAIContainerWorkspaceSection({ session, containerConfig: o }),
  ],
  [
    "ContainerFilesystem",
    "localroot",
    "localRoot",
    (o) => new openai.ContainerFilesystem({ client, ...Object(o) }),
  ],
  [
    "ContainerManager",
    "configs",
    "config",
    (o) => new openai.ContainerManager({ client, ...Object(o) }),
  ],
  [
    "ContainerManager.release(options)",
    "remov",
    "remove",
    (o) => new openai.ContainerManager({ client }).release(o),
  ],
  [
    "ContainerManager.ensure(options)",
    "singal",
    "signal",
    (o) => {
      const manager = new openai.ContainerManager({ client });
      return ignoreAbort(manager.ensure({ signal: aborted, ...Object(o) }));
    },
  ],
  [
    "ContainerManager.use(options)",
    "singal",
    "signal",
    (o) => {
      const manager = new openai.ContainerManager({ client });
      return ignoreAbort(manager.use(async () => 1, { signal: aborted, ...Object(o) }));
    },
  ],
  [
    "CompactionManager(config)",
    "enable",
    "enabled",
    (o) => new openai.CompactionManager(client, o, session, { model: "gpt-5.2" }),
  ],
  [
    "CompactionManager(options)",
    "instruction",
    "instructions",
    (o) => new openai.CompactionManager(client, {}, session, { model: "gpt-5.2", ...Object(o) }),
  ],
];
