import { InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { OpenAIModelConfig } from "../model-config.ts";
import type { CompactionSettings } from "./compaction-config.ts";

/** A model config under which nothing is kept; refuses one that says otherwise. */
export function zdrModelConfig(
  config: OpenAIModelConfig,
  { zdrMode }: CompactionSettings,
): OpenAIModelConfig {
  if (!zdrMode) return config;
  if (config.store === true) {
    throw conflict("OpenAIAdapter.modelConfig.store", true, "leave it out", "responses are kept");
  }
  // What else would be kept, such as `background` or `conversation`, no model config may say.
  const prompt = config.extraBody?.["prompt"];
  if (prompt !== undefined) {
    const field = "OpenAIAdapter.modelConfig.extraBody.prompt";
    throw conflict(field, prompt, "leave it out", "it stands for something that is kept");
  }
  return Object.freeze({ ...config, store: false });
}

/** Refuses what of a prompt would be kept at the provider. */
export function checkZdrPrompt(
  { hostedTools, attachments }: RenderedPrompt,
  { zdrMode, allowStoredFiles }: CompactionSettings,
): void {
  if (!zdrMode) return;
  const stored = attachments.findIndex((attachment) => "fileId" in attachment);
  if (stored >= 0 && !allowStoredFiles) {
    const remedy = "attach its path or bytes, which go with the request, or set allowStoredFiles";
    throw conflict(`attach(files)[${stored}].fileId`, attachments[stored], remedy, FILES);
  }
  for (const { name, kind, config } of hostedTools) {
    if (allowStoredFiles) continue;
    const field = `Hosted tool "${name}"`;
    if (kind === "file_search") {
      throw conflict(field, kind, "leave it out, or set compaction.allowStoredFiles", FILES);
    }
    if (fileIdsIn(config)) {
      const remedy = "mount the files from this machine, or set compaction.allowStoredFiles";
      throw conflict(`${field} config fileIds`, kind, remedy, FILES);
    }
  }
}

const FILES = "files and vector stores are kept by the provider until they are deleted";

function fileIdsIn(config: object): boolean {
  const { container, environment } = config as { container?: unknown; environment?: unknown };
  return [container, environment].some(
    (place) =>
      isPlainObject(place) && Array.isArray(place["fileIds"]) && place["fileIds"].length > 0,
  );
}

function conflict(field: string, value: unknown, remedy: string, why: string): InvalidOptionError {
  const rule = `must be left out with compaction.zdrMode, because ${why}`;
  return new InvalidOptionError({ field, value, rule, remedy });
}
