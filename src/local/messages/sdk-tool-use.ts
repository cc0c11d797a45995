import type { WireItem } from "../../openai/wire.ts";

/** A call to a tool that the Claude Agent SDK provides and runs itself. */
export interface SdkToolUse {
  readonly name: string;
  readonly input: WireItem;
}
