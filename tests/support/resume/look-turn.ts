import type { Prompt } from "weakincentives";
import type { WireItem } from "../../../src/openai/wire.ts";
import { createTaskPrompt, lookTool } from "../openai-run.ts";
import { functionCall, reasoning } from "../wire-server.ts";

/** Creates a prompt whose only tool looks. A call of it that was interrupted may run again. */
export function createLookPrompt(): Prompt<string> {
  return createTaskPrompt({ tools: [lookTool] });
}

/** Creates the items of a response that calls the tool. */
export function createLookTurn(callId: string): readonly WireItem[] {
  return [reasoning(`rs_${callId}`), functionCall(lookTool.name, {}, callId)];
}

/** Creates the usage of a response whose request has this many tokens. */
export function createUsage(tokens: number) {
  return { input_tokens: tokens, output_tokens: 5, total_tokens: tokens + 5 };
}
