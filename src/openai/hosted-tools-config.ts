import { PromptValidationError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { checkBoolean, checkKeys, elsewhere, optional } from "../tools/config-checks.ts";
import { codeInterpreterTool } from "../tools/hosted/code-interpreter.ts";
import { type FileSearchConfig, fileSearchTool } from "../tools/hosted/file-search.ts";
import { type WebSearchConfig, webSearchTool } from "../tools/hosted/web-search.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { madeAs } from "../tools/made-as.ts";

/** What an adapter adds to every prompt; a prompt's own tool of the same kind wins. */
export interface OpenAIHostedToolsConfig {
  /** @default false */
  readonly codeInterpreter?: boolean | undefined;
  /** `null`: no file search. @default null */
  readonly fileSearch?: FileSearchConfig | null | undefined;
  /** `true`: as the provider likes. @default false */
  readonly webSearch?: boolean | WebSearchConfig | undefined;
}

/** The tools that are switched on: the interpreter, file search, web search, in this order. */
export function hostedToolsOf(
  config: OpenAIHostedToolsConfig = {},
  field = "OpenAIAdapter.hostedTools",
): readonly HostedTool[] {
  checkKeys<OpenAIHostedToolsConfig>(config, field, {
    codeInterpreter: optional(checkBoolean),
    fileSearch: elsewhere,
    webSearch: optional(checkSwitch),
  });
  const { codeInterpreter = false, fileSearch = null, webSearch = false } = config;
  const tools: HostedTool[] = [];
  if (codeInterpreter) tools.push(codeInterpreterTool());
  if (fileSearch !== null) {
    tools.push(madeAs({ config: `${field}.fileSearch` }, () => fileSearchTool(fileSearch)));
  }
  if (webSearch !== false) {
    const wanted = webSearch === true ? {} : webSearch;
    tools.push(madeAs({ config: `${field}.webSearch` }, () => webSearchTool(wanted)));
  }
  return Object.freeze(tools);
}

function checkSwitch(value: unknown, field: string): void {
  if (typeof value === "boolean" || isPlainObject(value)) return;
  const rule = "must be true, false or a WebSearchConfig";
  throw new PromptValidationError({ field, value, rule, remedy: "leave it out for no web search" });
}

/** How to give a prompt a tool whose code runs in a container. */
export const codeToolRemedy =
  "give the adapter hostedTools: { codeInterpreter: true }, or a section the tool";
