import { applyPatchCodec } from "./apply-patch.ts";
import { codeInterpreterCodec } from "./code-interpreter.ts";
import type { HostedToolCodec } from "./codec.ts";
import { fileSearchCodec } from "./file-search.ts";
import { imageGenerationCodec } from "./image-generation.ts";
import { mcpCodec } from "./mcp.ts";
import { shellCodec } from "./shell.ts";
import { webSearchCodec } from "./web-search.ts";

/** What OpenAI can run, one codec a kind. A new kind is a file beside this one and a line here. */
export const defaultCodecs: readonly HostedToolCodec[] = [
  webSearchCodec,
  fileSearchCodec,
  codeInterpreterCodec,
  shellCodec,
  applyPatchCodec,
  imageGenerationCodec,
  mcpCodec,
];
