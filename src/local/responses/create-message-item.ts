import type { WireItem } from "../../openai/wire.ts";

/** Creates a message of the model. */
export function createMessageItem(id: string, content: readonly object[]): WireItem {
  return { id, type: "message", status: "completed", role: "assistant", content };
}

/** Creates a message of the model with one text. */
export function createTextMessage(
  id: string,
  text: string,
  annotations: readonly WireItem[] = [],
): WireItem {
  return createMessageItem(id, [{ type: "output_text", text, annotations, logprobs: [] }]);
}
