import { PromptValidationError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { checkBoolean, checkKeys, deferCheck, optional } from "../tools/config-checks.ts";
import { codeInterpreterTool } from "../tools/hosted/code-interpreter.ts";
import { type FileSearchConfig, fileSearchTool } from "../tools/hosted/file-search.ts";
import { type WebSearchConfig, webSearchTool } from "../tools/hosted/web-search.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { renameConfigError } from "../tools/rename-config-error.ts";

/** Hosted tools that an adapter adds to every prompt. A prompt's own tool of the same kind wins. */
export interface OpenAIHostedToolsConfig {
  /** Adds the code interpreter. @default false */
  readonly codeInterpreter?: boolean | undefined;
  /** Adds file search with this config; `null` adds none. @default null */
  readonly fileSearch?: FileSearchConfig | null | undefined;
  /**
   * Adds web search: with this config, or with the provider's defaults if `true`. @default false
   */
  readonly webSearch?: boolean | WebSearchConfig | undefined;
}

/** Creates the enabled tools, in this order: code interpreter, file search, web search. */
export function createHostedTools(
  config: OpenAIHostedToolsConfig = {},
  field = "OpenAIAdapter.hostedTools",
): readonly HostedTool[] {
  checkKeys<OpenAIHostedToolsConfig>(config, field, {
    codeInterpreter: optional(checkBoolean),
    fileSearch: deferCheck,
    webSearch: optional(checkWebSearch),
  });
  const { codeInterpreter = false, fileSearch = null, webSearch = false } = config;
  const tools: HostedTool[] = [];
  if (codeInterpreter) tools.push(codeInterpreterTool());
  if (fileSearch !== null) {
    tools.push(
      renameConfigError({ config: `${field}.fileSearch` }, () => fileSearchTool(fileSearch)),
    );
  }
  if (webSearch !== false) {
    const wanted = webSearch === true ? {} : webSearch;
    tools.push(renameConfigError({ config: `${field}.webSearch` }, () => webSearchTool(wanted)));
  }
  return Object.freeze(tools);
}

function checkWebSearch(value: unknown, field: string): void {
  if (typeof value === "boolean" || isPlainObject(value)) return;
  const rule = "must be true, false or a WebSearchConfig";
  throw new PromptValidationError({ field, value, rule, remedy: "omit it for no web search" });
}

/** The remedy for a prompt without a tool that runs code in a container. */
export const codeToolRemedy =
  "pass hostedTools: { codeInterpreter: true } to the adapter, or add the tool to a section";
