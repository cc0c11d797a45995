import { isPlainObject } from "../../../base/freeze.ts";
import { readRecord, readRecords } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { anthropicWording } from "./anthropic-wording.ts";
import { createInvalidProblem, createUnsupportedProblem } from "./invalid-problem.ts";

/**
 * Rejects fields that the Messages API does not have, fields of a beta that the request does not name in its
 * `anthropic-beta` header, and fields whose effect this server cannot provide.
 */
export function checkRequestFields(fields: WireItem, betas: readonly string[]): void {
  for (const [name, value] of Object.entries(fields)) {
    if (FIELDS.has(name)) continue;
    const prefixes = BETA_FIELDS.get(name);
    const isNamed = prefixes?.some((prefix) => betas.some((beta) => beta.startsWith(prefix)));
    if (!isNamed) throw anthropicWording.unknownField(name);
    const remedy = isUsed(value) ? UNSUPPORTED.get(name) : undefined;
    if (remedy !== undefined) throw createUnsupportedProblem(name, remedy);
  }
  checkEdits(fields);
  checkOutputConfig(fields);
  const container = readRecord(fields, "container");
  if (isUsed(container["skills"]))
    throw createUnsupportedProblem("container.skills", "Remove the field: there are no skills.");
}

/**
 * The fields that every request may have. Some have no effect here, because they control how Anthropic runs and
 * bills a model: cache_control, diagnostics, inference_geo, metadata, service_tier, speed, temperature, top_k,
 * top_p.
 */
const FIELDS: ReadonlySet<string> = new Set([
  "cache_control",
  "container",
  "diagnostics",
  "inference_geo",
  "max_tokens",
  "messages",
  "metadata",
  "model",
  "output_config",
  "service_tier",
  "speed",
  "stop_sequences",
  "stream",
  "system",
  "temperature",
  "thinking",
  "tool_choice",
  "tools",
  "top_k",
  "top_p",
]);

/** The fields of betas, with the beginnings of the names of the betas that have them. Their dates vary. */
const BETA_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["compaction", ["compact-"]],
  ["context_management", ["context-management-", "compact-"]],
  ["fallback_credit_token", ["fallback-credit-"]],
  ["fallbacks", ["server-side-fallback-"]],
  ["mcp_servers", ["mcp-client-"]],
  ["output_format", ["structured-outputs-"]],
  ["thread", ["message-threads-"]],
]);

/** The fields that this server rejects, with the remedy. */
const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ["fallback_credit_token", "Remove the field: requests cost nothing."],
  ["fallbacks", 'Remove the field or use "default": the server has one model.'],
  ["mcp_servers", "Remove the field and connect to the MCP servers in the client."],
]);

/** Whether a field asks for something. `"default"` is accepted by models without fallbacks. */
function isUsed(value: unknown): boolean {
  if (value === undefined || value === null || value === "default") return false;
  return !Array.isArray(value) || value.length > 0;
}

/**
 * Rejects unknown context edits and the compaction edit. The edits that clear old results and old thinking are
 * accepted and never applied: the message's `applied_edits` is empty.
 */
function checkEdits(fields: WireItem): void {
  const management = readRecord(fields, "context_management");
  for (const [place, { type }] of readRecords(management, "edits").entries()) {
    const path = `context_management.edits.${place}`;
    if (type === "compact_20260112")
      throw createUnsupportedProblem(path, "Use the field compaction to compact a conversation.");
    if (typeof type !== "string" || !EDITS.includes(type))
      throw anthropicWording.unknownType(path, "type", String(type), EDITS);
  }
  if (isUsed(fields["compaction"]) && isUsed(fields["context_management"]))
    throw createInvalidProblem("compaction", "Cannot be combined with `context_management`.");
}

const EDITS = ["clear_tool_uses_20250919", "clear_thinking_20251015"];

/** Rejects unknown fields of `output_config`. Efforts and budgets are advice to the model and have no effect. */
function checkOutputConfig({ output_config: config, output_format: format }: WireItem): void {
  if (config === undefined || config === null) return;
  if (!isPlainObject(config)) throw anthropicWording.wrongKind("output_config", ["object"], config);
  const odd = Object.keys(config).find((key) => !OUTPUT_FIELDS.has(key));
  if (odd !== undefined) throw anthropicWording.unknownField(`output_config.${odd}`);
  if (isUsed(format) && isUsed(config["format"]))
    throw createInvalidProblem("output_format", "Use either `output_config.format` or this field.");
}

const OUTPUT_FIELDS: ReadonlySet<string> = new Set(["effort", "format", "task_budget"]);
