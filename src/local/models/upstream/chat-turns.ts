import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { readChatCall, readChatResult } from "./chat-calls.ts";
import { type ChatPart, joinPartTexts, toChatParts } from "./chat-parts.ts";

/** One turn of a conversation, in an order that every API accepts: results follow their calls. */
export type ChatTurn =
  | { readonly role: "system" | "developer" | "user"; readonly parts: readonly ChatPart[] }
  | AssistantTurn;

/** A turn of the model: a text, or calls with their results and the text before them. */
export interface AssistantTurn {
  readonly role: "assistant";
  readonly text: string;
  readonly calls: readonly ChatCall[];
}

/** A call with its result. */
export interface ChatCall {
  readonly id: string;
  /** The name by which the function is offered to the model. */
  readonly name: string;
  readonly args: string;
  readonly result: readonly ChatPart[];
}

/**
 * Converts a conversation's items to turns. Consecutive calls become one turn, unless a result is between them.
 * Reasoning is omitted, because servers do not share a format for it.
 */
export function toChatTurns(
  items: readonly object[],
  nameOf: (hosted: string) => string,
  catalog: ToolCatalog,
): readonly ChatTurn[] {
  const turns: ChatTurn[] = [];
  const results = groupResults(items, catalog);
  let open: ChatCall[] | null = null; // the last turn's calls, while more may join them
  for (const item of items.map((one): Item => ({ ...one }))) {
    const call = readChatCall(item, catalog);
    if (call) {
      const { id, isHosted, args } = call;
      const name = isHosted ? nameOf(call.name) : call.name;
      const result = call.result ?? results.get(id)?.shift() ?? NO_RESULT;
      if (!open) {
        open = [];
        turns.push({ role: "assistant", text: takePrecedingText(turns), calls: open });
      }
      open.push({ id, name, args, result });
      if (call.result) open = null;
    } else if (readChatResult(item, catalog)) open = null;
    else if (typeof item["role"] === "string") {
      open = null;
      turns.push(toMessageTurn(item));
    }
  }
  return turns;
}

type Item = Readonly<Record<string, unknown>>;

const NO_RESULT: readonly ChatPart[] = [{ text: "No result." }];

/** Returns results by call, in order: calls of different turns may share an id. */
function groupResults(
  items: readonly object[],
  catalog: ToolCatalog,
): Map<string, (readonly ChatPart[])[]> {
  const results = new Map<string, (readonly ChatPart[])[]>();
  for (const item of items) {
    const result = readChatResult({ ...item }, catalog);
    if (!result) continue;
    const all = results.get(result.callId) ?? [];
    results.set(result.callId, [...all, result.parts]);
  }
  return results;
}

/** Removes and returns the text right before a call, which becomes part of the call's turn. */
function takePrecedingText(turns: ChatTurn[]): string {
  const last = turns.at(-1);
  if (last?.role !== "assistant" || last.calls.length > 0) return "";
  turns.pop();
  return last.text;
}

function toMessageTurn({ role, content }: Item): ChatTurn {
  const parts = toChatParts(content);
  if (role === "assistant") return { role, text: joinPartTexts(parts), calls: [] };
  return { role: role === "system" || role === "developer" ? role : "user", parts };
}
