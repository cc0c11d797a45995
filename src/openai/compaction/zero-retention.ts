import { InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { InputPart } from "../../prompt/input.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { OpenAIModelConfig } from "../model-config.ts";
import type { CompactionSettings } from "./compaction-config.ts";

/** Returns the model config with `store: false` in `zdrMode`. Throws if the config requires storage. */
export function toZeroRetentionConfig(
  config: OpenAIModelConfig,
  { zdrMode }: CompactionSettings,
): OpenAIModelConfig {
  if (!zdrMode) return config;
  if (config.store === true) {
    const field = "OpenAIAdapter.modelConfig.store";
    throw createConflictError(field, true, "omit it", "the provider would store responses");
  }
  // No model config accepts the other fields that store data, such as `background` or `conversation`.
  const prompt = config.extraBody?.["prompt"];
  if (prompt !== undefined) {
    const field = "OpenAIAdapter.modelConfig.extraBody.prompt";
    throw createConflictError(
      field,
      prompt,
      "omit it",
      "it refers to a prompt that the provider stores",
    );
  }
  return Object.freeze({ ...config, store: false });
}

/** Throws if a prompt would store data at the provider in `zdrMode`. */
export function checkZeroRetentionPrompt(
  { hostedTools, attachments }: RenderedPrompt,
  { zdrMode, allowStoredFiles }: CompactionSettings,
): void {
  if (!zdrMode) return;
  if (!allowStoredFiles) checkStoredFiles(attachments, "attach(files)");
  for (const { name, kind, config } of hostedTools) {
    if (allowStoredFiles) continue;
    const field = `Hosted tool "${name}"`;
    if (kind === "file_search") {
      throw createConflictError(
        field,
        kind,
        "omit it, or set compaction.allowStoredFiles",
        STORED_FILES_REASON,
      );
    }
    if (hasFileIds(config)) {
      const remedy = "mount the files from the host, or set compaction.allowStoredFiles";
      throw createConflictError(`${field} config fileIds`, kind, remedy, STORED_FILES_REASON);
    }
  }
}

/** Throws if a user's input refers to a file that the provider stores. Called only in `zdrMode`. */
export function checkZeroRetentionInput(
  input: readonly InputPart[],
  { allowStoredFiles }: CompactionSettings,
): void {
  if (!allowStoredFiles) checkStoredFiles(input, "evaluate(input)");
}

function checkStoredFiles(parts: readonly InputPart[], field: string): void {
  const stored = parts.findIndex((part) => "fileId" in part);
  if (stored < 0) return;
  const remedy =
    "attach its path or bytes, which are sent inline, or set compaction.allowStoredFiles";
  throw createConflictError(
    `${field}[${stored}].fileId`,
    parts[stored],
    remedy,
    STORED_FILES_REASON,
  );
}

const STORED_FILES_REASON = "the provider stores files and vector stores until they are deleted";

function hasFileIds(config: object): boolean {
  const { container, environment } = config as { container?: unknown; environment?: unknown };
  return [container, environment].some(
    (target) =>
      isPlainObject(target) && Array.isArray(target["fileIds"]) && target["fileIds"].length > 0,
  );
}

function createConflictError(
  field: string,
  value: unknown,
  remedy: string,
  why: string,
): InvalidOptionError {
  const rule = `must be omitted with compaction.zdrMode, because ${why}`;
  return new InvalidOptionError({ field, value, rule, remedy });
}
