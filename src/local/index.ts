/**
 * OpenAI's and Anthropic's APIs on the host: hosted tools really run, and the model is a script or your own
 * model server.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */

export type { Listening, ListenOptions } from "./http/listen.ts";
export type { RequestEntry } from "./http/request-entry.ts";
export type { ModelAction, ModelCitation } from "./model-action.ts";
export { echoModel } from "./models/echo-model.ts";
export type { AnswerPart, LocalModel, ModelOptions, ModelRequest } from "./models/local-model.ts";
export { type ModelScript, scriptedModel } from "./models/scripted-model.ts";
export { upstreamModel } from "./models/upstream/upstream-model.ts";
export type { UpstreamModelOptions } from "./models/upstream/upstream-options.ts";
export { LocalProvider } from "./provider.ts";
export type { LocalLimits, LocalProviderOptions } from "./provider-options.ts";
export { type DockerSandboxOptions, dockerSandbox } from "./sandbox/docker/docker-sandbox.ts";
export type {
  LimitGrade,
  LimitReport,
  PythonRun,
  RunLimits,
  Sandbox,
  SandboxImage,
  SandboxOptions,
  SandboxProbe,
  SandboxProcess,
  ShellRun,
} from "./sandbox/sandbox.ts";
export {
  type SandboxedShell,
  type SandboxedShellLimits,
  type SandboxedShellOptions,
  type SandboxedShellOutput,
  sandboxedShell,
} from "./sandbox/sandboxed-shell.ts";
export type {
  LocalTool,
  LocalToolCall,
  LocalToolCheck,
  LocalToolContainers,
  LocalToolContext,
  LocalToolEvent,
  LocalToolEvents,
  LocalToolFunction,
  LocalToolHit,
  LocalToolItem,
  LocalToolOutput,
  LocalToolPastCall,
} from "./tools/local-tool.ts";
