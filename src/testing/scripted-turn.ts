import type { HostedCall, ToolCall, Turn } from "../adapter/model-client.ts";
import { type TokenUsage, usageOf } from "../base/usage.ts";

/** A turn as a script says it: what it leaves out is empty. */
export interface ScriptedTurn extends Partial<Omit<Turn, "toolCalls" | "hostedCalls" | "usage">> {
  readonly toolCalls?: readonly ScriptedToolCall[] | undefined;
  readonly hostedCalls?: readonly ScriptedHostedCall[] | undefined;
  readonly usage?: Partial<TokenUsage> | undefined;
}

/** A call that the scripted model makes. */
export interface ScriptedToolCall {
  readonly name: string;
  /** @default "call_1", "call_2", … over all turns */
  readonly callId?: string | undefined;
  /** JSON as the model would write it, or what it stands for. @default {} */
  readonly arguments?: string | object | undefined;
}

/** A call that the scripted provider ran; only its name is needed. */
export interface ScriptedHostedCall extends Partial<Omit<HostedCall, "name">> {
  readonly name: string;
}

/** The turn that a scripted one stands for; `number` tells its calls from those of others. */
export function turnOf(turn: ScriptedTurn, number: number): Turn {
  const toolCalls = (turn.toolCalls ?? []).map((call, index) =>
    toolCallOf(call, `${number}_${index + 1}`),
  );
  const hostedCalls = (turn.hostedCalls ?? []).map((call, index) =>
    hostedCallOf(call, `${number}_${index + 1}`),
  );
  return Object.freeze({
    text: "",
    citations: [],
    finishReason: toolCalls.length > 0 ? "tool_calls" : "stop",
    responseId: `response_${number}`,
    requestId: `request_${number}`,
    model: "scripted",
    ...turn,
    toolCalls: Object.freeze(toolCalls),
    hostedCalls: Object.freeze(hostedCalls),
    usage: usageOf(turn.usage ?? {}),
  });
}

function toolCallOf(
  { name, callId, arguments: args = {} }: ScriptedToolCall,
  id: string,
): ToolCall {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return Object.freeze({ name, callId: callId ?? `call_${id}`, arguments: text });
}

function hostedCallOf({ name, ...call }: ScriptedHostedCall, id: string): HostedCall {
  const { callId = `hosted_${id}`, params = {}, output = null, success = true } = call;
  const { kind = name, message = success ? "OK" : "The provider's tool failed", raw } = call;
  const known = { name, kind, callId, params, output, success, message };
  return Object.freeze({
    ...known,
    ...(call.containerId === undefined ? {} : { containerId: call.containerId }),
    raw: raw ?? { type: `${kind}_call`, id: callId },
  });
}
