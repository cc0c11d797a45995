import { applyPatchCodec } from "./apply-patch.ts";
import { codeInterpreterCodec } from "./code-interpreter.ts";
import type { HostedToolCodec } from "./codec.ts";
import { fileSearchCodec } from "./file-search.ts";
import { imageGenerationCodec } from "./image-generation.ts";
import { mcpCodec } from "./mcp.ts";
import { shellCodec } from "./shell.ts";
import { webSearchCodec } from "./web-search.ts";

/** The built-in codecs, one per kind. To add a kind, add a file to this folder and a line here. */
export const defaultCodecs: readonly HostedToolCodec[] = [
  webSearchCodec,
  fileSearchCodec,
  codeInterpreterCodec,
  shellCodec,
  applyPatchCodec,
  imageGenerationCodec,
  mcpCodec,
];
