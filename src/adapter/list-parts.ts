import type { Turn } from "./model-client.ts";
import type { ResponsePart } from "./turn-observer.ts";

/**
 * Lists the parts of a whole turn. `deltas` are the pieces in which its text arrived; by default, it
 * arrived at once.
 */
export function listParts(
  { text, toolCalls, hostedCalls, delegatedCalls = [] }: Turn,
  turn: number,
  deltas: readonly string[] = [text],
): readonly ResponsePart[] {
  return [
    ...hostedCalls.map(({ callId, kind, success }): ResponsePart => {
      return { type: "hostedCall", turn, callId, kind, status: success ? "completed" : "failed" };
    }),
    ...deltas
      .filter((delta) => delta !== "")
      .map((delta): ResponsePart => ({ type: "text", turn, delta })),
    ...toolCalls.map(({ callId, name, arguments: delta }): ResponsePart => {
      return { type: "toolCall", turn, callId, name, delta };
    }),
    ...delegatedCalls.map(({ callId, kind }): ResponsePart => {
      return { type: "hostedCall", turn, callId, kind, status: "completed" };
    }),
  ];
}
