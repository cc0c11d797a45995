import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { parseBoundedJson } from "../parse-bounded-json.ts";
import { searchForTool } from "./hosted/tool-search.ts";
import type { FinishedBlock, MessageState } from "./message-state.ts";
import type { SdkToolUse } from "./sdk-tool-use.ts";
import { findToolName } from "./tool-names.ts";

/** Creates a call to a client tool, with the name by which the request offers the tool. */
export function createFunctionCall(
  { name, args, callId }: Extract<ModelAction, { call: unknown }>["call"],
  state: MessageState,
): readonly FinishedBlock[] {
  const offered = findToolName(name, state);
  if (typeof args !== "string")
    return createToolUse({ name: offered, input: { ...args } }, state, { callId });
  const parsed = parseBoundedJson(args);
  const isObject = parsed.ok && isPlainObject(parsed.value);
  // Anthropic advises clients to pass invalid JSON on like this.
  const input = isObject ? { ...Object(parsed.value) } : { INVALID_JSON: args };
  return createToolUse({ name: offered, input }, state, {
    callId,
    rawInput: isObject ? undefined : args,
  });
}

/** Creates a call to any tool. */
export function createToolUse(
  { name, input }: SdkToolUse,
  state: MessageState,
  more: { readonly callId?: string | undefined; readonly rawInput?: string | undefined } = {},
): readonly FinishedBlock[] {
  const { request, services, blocks } = state;
  const isCalled = blocks.some(({ block }) => block.type === "tool_use");
  if (isCalled && !request.toolChoice.isParallel) return [];
  const id = more.callId ?? services.ids.next("toolu_");
  const block: WireItem & { readonly type: string } = { type: "tool_use", id, name, input };
  const search = searchForTool(name, state).map((found) => ({ block: found }));
  return [...search, { block, rawInput: more.rawInput }];
}
