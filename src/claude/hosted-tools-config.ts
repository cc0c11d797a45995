import { checkBoolean, checkKeys, elsewhere, optional } from "../tools/config-checks.ts";
import { codeInterpreterTool } from "../tools/hosted/code-interpreter.ts";
import { type WebSearchConfig, webSearchTool } from "../tools/hosted/web-search.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";

/** What the adapter adds to every prompt; a prompt's own tool of the same kind wins. */
export interface ClaudeHostedToolsConfig {
  /** Lets the model run commands, with the SDK's Bash. @default false */
  readonly codeInterpreter?: boolean | undefined;
  /** @default false */
  readonly webSearch?: boolean | WebSearchConfig | undefined;
}

/** The tools that are switched on. */
export function hostedToolsOf(
  config: ClaudeHostedToolsConfig = {},
  field = "ClaudeAgentSDKAdapter.hostedTools",
): readonly HostedTool[] {
  checkKeys<ClaudeHostedToolsConfig>(config, field, {
    codeInterpreter: optional(checkBoolean),
    webSearch: elsewhere,
  });
  const { codeInterpreter = false, webSearch = false } = config;
  const tools: HostedTool[] = [];
  if (codeInterpreter) tools.push(codeInterpreterTool());
  if (webSearch !== false) tools.push(webSearchTool(webSearch === true ? {} : webSearch));
  return Object.freeze(tools);
}
