import { itemsOfType, maybeTextAt, recordAt, textAt } from "../../base/reading.ts";
import {
  type ApplyPatchConfig,
  type ApplyPatchResult,
  applyPatchTool,
} from "../../tools/hosted/apply-patch.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import { isSnapshotable } from "../../tools/open-resources.ts";
import type { WireApplyPatch, WireItem, WireOutput } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";
import { callIdOf, identityOf, onlySet } from "./codec-parts.ts";
import { type LivePatchTool, operationOf, runPatch } from "./run-patch.ts";

/** https://platform.openai.com/docs/guides/tools-apply-patch: the provider writes, we apply. */
export const applyPatchCodec: HostedToolCodec<ApplyPatchConfig, ApplyPatchResult> = {
  kind: "apply_patch",

  params: { operation: "string", path: "string", diff: "string" },

  serialize(tool) {
    checkedConfig(tool, () => applyPatchTool(tool.config));
    const entry: WireApplyPatch = { type: "apply_patch" };
    return entry;
  },

  parseOutput(items) {
    const calls = itemsOfType(items, "apply_patch_call");
    const answers = answersIn(items);
    if (calls.length === 0) return null;
    return { calls: calls.flatMap((item) => doneCall(item, answers.get(callIdOf(item)))) };
  },

  /** The provider applies nothing itself. */
  calls: () => [],

  asked(items, tool: LivePatchTool) {
    const answers = answersIn(items);
    const { filesystem } = tool.live;
    const touches = isSnapshotable(filesystem) ? [filesystem] : undefined;
    return itemsOfType(items, "apply_patch_call")
      .filter((item) => !answers.has(callIdOf(item)))
      .map((item) => ({
        ...identityOf(item, tool),
        params: paramsOf(item),
        touches,
        run: (context) => runPatch(item, tool, context),
      }));
  },

  nativeProblem: ({ name }) =>
    `NativeTool "${name}" of kind "apply_patch" is run here and not by the provider, for which a NativeTool has no means: put applyPatchTool() among the section's hostedTools`,

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

function answersIn(items: readonly WireItem[]): ReadonlyMap<string, WireItem> {
  const outputs = itemsOfType(items, "apply_patch_call_output");
  return new Map(outputs.map((output) => [callIdOf(output), output]));
}

/** An operation of a type that came after this was written has no place in the result. */
function doneCall(item: WireItem, answer: WireItem = {}): ApplyPatchResult["calls"] {
  const { operation, path } = operationOf(item);
  if (operation === null) return [];
  const success = answer["status"] === "completed";
  return [{ callId: callIdOf(item), operation, path, success, message: textAt(answer, "output") }];
}

function paramsOf(item: WireItem): object {
  const { operation, path } = operationOf(item);
  const wire = recordAt(item, "operation");
  return onlySet({
    operation: operation ?? textAt(wire, "type"),
    path,
    diff: maybeTextAt(wire, "diff") ?? undefined,
  });
}
