import type { Tool } from "../../tools/tool.ts";
import type { ToolInvoked } from "../events.ts";
import type { DelegatedCallData, HostedCall } from "../model-client.ts";
import type { SettledCall } from "./combine-outputs.ts";
import { parseHostedOutput } from "./parse-declared-output.ts";

/** Returns a hosted or delegated call whose result is stored, as it was when it was processed. */
export async function settleStoredCall(
  call: HostedCall | DelegatedCallData,
  { params, result }: Pick<ToolInvoked, "params" | "result">,
  tool: Tool | null,
): Promise<SettledCall> {
  const { success, message, value } = result;
  if (!("output" in call)) {
    const { name, kind, callId, raw } = call;
    const delegated = { name, kind, callId, raw, params, output: value, success, message };
    return { call: Object.freeze(delegated), declared: value, tool };
  }
  const parsed = await parseHostedOutput(tool, call.output, call.raw);
  const declared = parsed.ok ? parsed.value : call.output;
  const output = success ? (value ?? declared) : declared;
  return { call: Object.freeze({ ...call, params, success, message, output }), declared, tool };
}
