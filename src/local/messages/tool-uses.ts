import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { modelFault } from "./check/refusal.ts";
import type { MadeBlock, MessageState } from "./message-state.ts";
import type { NativeUse } from "./native-use.ts";
import { offeredName } from "./tool-names.ts";

/** A call of the client's tool, by the name that the request offers it by. */
export function functionCall(
  { name, args, callId }: Extract<ModelAction, { call: unknown }>["call"],
  state: MessageState,
): readonly MadeBlock[] {
  const offered = offeredName(state.tools, name);
  if (typeof args !== "string")
    return callOf({ name: offered, input: { ...args } }, state, { callId });
  const parsed = parseJson(args);
  const isObject = parsed.ok && isPlainObject(parsed.value);
  // As Anthropic advises clients to hand on what is no JSON.
  const input = isObject ? { ...Object(parsed.value) } : { INVALID_JSON: args };
  return callOf({ name: offered, input }, state, { callId, written: isObject ? undefined : args });
}

/** A call of any tool, unless the request's choice is against it. */
export function callOf(
  { name, input }: NativeUse,
  { request, services, made }: MessageState,
  more: { readonly callId?: string | undefined; readonly written?: string | undefined } = {},
): readonly MadeBlock[] {
  const { type, name: chosen, isParallel } = request.toolChoice;
  if (type === "none") throw against(name, "none");
  if (type === "tool" && chosen !== name) throw against(name, `the tool ${chosen}`);
  const isCalled = made.some(({ block }) => block.type === "tool_use");
  if (isCalled && !isParallel) return [];
  const id = more.callId ?? services.ids.next("toolu_");
  const block: WireItem & { readonly type: string } = { type: "tool_use", id, name, input };
  return [{ block, written: more.written }];
}

function against(name: string, choice: string): Error {
  return modelFault(
    `The model called ${name}, and the request's tool_choice is ${choice}: change the one or the other.`,
  );
}
