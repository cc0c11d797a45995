import { checkBoolean, checkKeys, deferCheck, optional } from "../tools/config-checks.ts";
import { codeInterpreterTool } from "../tools/hosted/code-interpreter.ts";
import { type WebSearchConfig, webSearchTool } from "../tools/hosted/web-search.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";

/** Hosted tools that the adapter adds to every prompt that does not have the same kind already. */
export interface ClaudeHostedToolsConfig {
  /** Lets the model run commands with the SDK's `Bash`. @default false */
  readonly codeInterpreter?: boolean | undefined;
  /** Lets the model search the web. @default false */
  readonly webSearch?: boolean | WebSearchConfig | undefined;
}

/** Creates the hosted tools that a config enables. */
export function createHostedTools(
  config: ClaudeHostedToolsConfig = {},
  field = "ClaudeAgentSDKAdapter.hostedTools",
): readonly HostedTool[] {
  checkKeys<ClaudeHostedToolsConfig>(config, field, {
    codeInterpreter: optional(checkBoolean),
    webSearch: deferCheck,
  });
  const { codeInterpreter = false, webSearch = false } = config;
  const tools: HostedTool[] = [];
  if (codeInterpreter) tools.push(codeInterpreterTool());
  if (webSearch !== false) tools.push(webSearchTool(webSearch === true ? {} : webSearch));
  return Object.freeze(tools);
}
