import { filterByType, readRecord, readString, readStringOrNull } from "../../base/json.ts";
import {
  type ApplyPatchConfig,
  type ApplyPatchResult,
  applyPatchTool,
} from "../../tools/hosted/apply-patch.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import { isSnapshotable } from "../../tools/open-resources.ts";
import type { WireApplyPatch, WireItem, WireOutput } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";
import { getCallId, identifyCall, omitUndefined } from "./codec-call.ts";
import {
  createMissingFilesystemError,
  type LivePatchTool,
  readOperation,
  runPatch,
} from "./run-patch.ts";

/**
 * The apply_patch tool: the model writes patches, and this package applies them.
 * https://platform.openai.com/docs/guides/tools-apply-patch
 */
export const applyPatchCodec: HostedToolCodec<ApplyPatchConfig, ApplyPatchResult> = {
  kind: "apply_patch",

  params: { operation: "string", path: "string", diff: "string" },

  serialize(tool: LivePatchTool, { hasFilesystem }) {
    checkWithFactory(tool, () => applyPatchTool(tool.config));
    if (hasFilesystem === false && !tool.live.filesystem) throw createMissingFilesystemError(tool);
    const entry: WireApplyPatch = { type: "apply_patch" };
    return entry;
  },

  parseOutput(items) {
    const calls = filterByType(items, "apply_patch_call");
    const answers = indexOutputs(items);
    if (calls.length === 0) return null;
    return { calls: calls.flatMap((item) => toFinishedCall(item, answers.get(getCallId(item)))) };
  },

  /** The provider does not run these calls. */
  calls: () => [],

  delegatedCalls(items, tool: LivePatchTool) {
    const answers = indexOutputs(items);
    const { filesystem } = tool.live;
    const touches = isSnapshotable(filesystem) ? [filesystem] : undefined;
    return filterByType(items, "apply_patch_call")
      .filter((item) => !answers.has(getCallId(item)))
      .map((item) => ({
        ...identifyCall(item, tool),
        params: readPatchParams(item),
        touches,
        needsApproval: tool.live.needsApproval,
        run: (context) => runPatch(item, tool, context),
      }));
  },

  nativeProblem: ({ name }) =>
    `NativeTool "${name}" of kind "apply_patch" runs locally, not at the provider, and a NativeTool cannot run locally. Add applyPatchTool() to the section's hostedTools.`,

  answer({ callId, success, message }) {
    const output: WireOutput = {
      type: "apply_patch_call_output",
      call_id: callId,
      status: success ? "completed" : "failed",
      output: message,
    };
    return output;
  },
};

function indexOutputs(items: readonly WireItem[]): ReadonlyMap<string, WireItem> {
  const outputs = filterByType(items, "apply_patch_call_output");
  return new Map(outputs.map((output) => [getCallId(output), output]));
}

/** Converts a finished call. An unknown operation type has no entry in the result. */
function toFinishedCall(item: WireItem, answer: WireItem = {}): ApplyPatchResult["calls"] {
  const { operation, path } = readOperation(item);
  if (operation === null) return [];
  const success = answer["status"] === "completed";
  return [
    { callId: getCallId(item), operation, path, success, message: readString(answer, "output") },
  ];
}

function readPatchParams(item: WireItem): object {
  const { operation, path } = readOperation(item);
  const wire = readRecord(item, "operation");
  return omitUndefined({
    operation: operation ?? readString(wire, "type"),
    path,
    diff: readStringOrNull(wire, "diff") ?? undefined,
  });
}
