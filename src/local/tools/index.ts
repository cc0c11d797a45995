import { applyPatch } from "./apply-patch.ts";
import { codeInterpreter } from "./code-interpreter.ts";
import { computer } from "./computer.ts";
import { fileSearch } from "./file-search.ts";
import { imageGeneration } from "./image-generation.ts";
import { localShell } from "./local-shell.ts";
import { mcp } from "./mcp.ts";
import { programmaticToolCalling } from "./programmatic-tool-calling.ts";
import { shell } from "./shell.ts";
import { ToolCatalog } from "./tool-catalog.ts";
import type { ToolRecord } from "./tool-record.ts";
import { toolSearch } from "./tool-search.ts";
import { webSearch } from "./web-search.ts";

/** OpenAI's hosted tool kinds, including kinds that do not run locally. To add a kind, create a file in this folder and list it here. */
export const builtInTools: readonly ToolRecord[] = [
  fileSearch,
  computer,
  webSearch,
  mcp,
  codeInterpreter,
  programmaticToolCalling,
  imageGeneration,
  localShell,
  shell,
  toolSearch,
  applyPatch,
];

/** The tools that run code and commands, by the actions of the model that call them. */
export const runners = { code: codeInterpreter, shell } as const;

/** The catalog of a server without custom tools. */
export const builtInCatalog = new ToolCatalog(builtInTools);

/** The order in which OpenAI's errors list known values. Values missing here follow in any order. */
export const errorOrders = {
  tools: [
    "function",
    "file_search",
    "computer",
    "computer_use_preview",
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
    "mcp",
    "code_interpreter",
    "programmatic_tool_calling",
    "image_generation",
    "local_shell",
    "shell",
    "custom",
    "namespace",
    "tool_search",
    "apply_patch",
  ],
  choices: [
    "function",
    "custom",
    "mcp",
    "file_search",
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
    "computer",
    "computer_use",
    "computer_use_preview",
    "code_interpreter",
    "image_generation",
    "apply_patch",
    "shell",
    "local_shell",
    "programmatic_tool_calling",
  ],
  includes: [
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
  ],
} as const;
