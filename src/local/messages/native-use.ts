import type { WireItem } from "../../openai/wire.ts";

/** A call of one of the tools that the Claude Agent SDK brings and runs itself. */
export interface NativeUse {
  readonly name: string;
  readonly input: WireItem;
}
