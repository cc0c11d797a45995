import { type ChatPart, joinPartTexts } from "./chat-parts.ts";
import type { AssistantTurn, ChatTurn } from "./chat-turns.ts";

/** A conversation in an order that every chat template accepts: system text first and once, then alternating roles. */
export interface ArrangedChat {
  /** The system text, or `null`. */
  readonly system: string | null;
  readonly turns: readonly ArrangedTurn[];
}

/** One turn of an {@link ArrangedChat}. Two turns of the same role follow each other only after calls. */
export type ArrangedTurn =
  | { readonly role: "user"; readonly parts: readonly ChatPart[] }
  | AssistantTurn;

/**
 * Arranges a conversation for chat templates that refuse a second or late system message, two messages of a role in a
 * row, or a conversation without a user message. The arrangement of a conversation's start does not depend on what
 * follows, so that the server's cache of earlier requests stays valid. Decision 71 has the reasons.
 *
 * - System text before the first other turn is the system text. If no user turn follows, it is the first user turn.
 * - Later system text is marked with `<system>`, and joins the results of the calls or the user turn that it follows.
 * - Consecutive user turns, and consecutive answers, are joined.
 */
export function arrangeTurns(
  instructions: string | null,
  turns: readonly ChatTurn[],
): ArrangedChat {
  const end = turns.findIndex((turn) => !isSystemText(turn));
  const first = end < 0 ? turns : turns.slice(0, end);
  const rest = end < 0 ? [] : turns.slice(end);
  const texts = first.flatMap((turn) =>
    turn.role === "assistant" ? [] : [joinPartTexts(turn.parts)],
  );
  const system = [instructions ?? "", ...texts].filter((text) => text !== "");
  const hasUserTurn = rest[0] !== undefined && rest[0].role !== "assistant";
  const opening = hasUserTurn ? [] : system.splice(texts.length === 0 ? 0 : -texts.length);
  const arranged: ArrangedTurn[] = [];
  if (opening.length > 0) addUserParts(arranged, [{ text: opening.join(SEPARATOR) }]);
  for (const turn of rest) addTurn(arranged, turn);
  return { system: system.length === 0 ? null : system.join(SEPARATOR), turns: arranged };
}

const SEPARATOR = "\n\n";

function isSystemText(turn: ChatTurn): boolean {
  return (
    (turn.role === "system" || turn.role === "developer") &&
    turn.parts.every((part) => "text" in part)
  );
}

function addTurn(arranged: ArrangedTurn[], turn: ChatTurn): void {
  const last = arranged.at(-1);
  if (turn.role === "assistant") {
    const isJoined = last?.role === "assistant" && last.calls.length === 0;
    if (isJoined) arranged.pop();
    arranged.push(isJoined ? { ...turn, text: joinTexts(last.text, turn.text) } : turn);
  } else if (turn.role === "user") addUserParts(arranged, turn.parts);
  else if (isSystemText(turn) && last?.role === "assistant" && last.calls.length > 0) {
    arranged.pop();
    arranged.push(addToResults(last, markSystemText(turn.parts)));
  } else addUserParts(arranged, markSystemText(turn.parts));
}

function addUserParts(arranged: ArrangedTurn[], parts: readonly ChatPart[]): void {
  const last = arranged.at(-1);
  if (last?.role === "user") arranged.pop();
  // Mistral's templates require an answer between the results of calls and a user message.
  else if (last && last.calls.length > 0)
    arranged.push({ role: "assistant", text: INTERRUPTED, calls: [] });
  arranged.push({
    role: "user",
    parts: last?.role === "user" ? joinParts(last.parts, parts) : parts,
  });
}

const INTERRUPTED = "[Interrupted by the next message.]";

/** Marks system text that is sent within another message. */
function markSystemText(parts: readonly ChatPart[]): readonly ChatPart[] {
  const images = parts.filter((part) => "image" in part);
  return [{ text: `<system>\n${joinPartTexts(parts)}\n</system>` }, ...images];
}

function addToResults(turn: AssistantTurn, parts: readonly ChatPart[]): AssistantTurn {
  const calls = turn.calls.map((call, place) =>
    place === turn.calls.length - 1 ? { ...call, result: joinParts(call.result, parts) } : call,
  );
  return { ...turn, calls };
}

/** Joins the parts of two messages, with an empty line between their texts. */
function joinParts(first: readonly ChatPart[], second: readonly ChatPart[]): readonly ChatPart[] {
  const [last, next] = [first.at(-1), second[0]];
  if (!last || !next || !("text" in last) || !("text" in next)) return [...first, ...second];
  return [...first.slice(0, -1), { text: joinTexts(last.text, next.text) }, ...second.slice(1)];
}

function joinTexts(first: string, second: string): string {
  return [first, second].filter((text) => text !== "").join(SEPARATOR);
}
