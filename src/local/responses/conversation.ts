import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";
import type { ResponseStore, StoredResponse } from "../store/response-store.ts";
import { tampered, unsealed } from "./compaction.ts";
import { type CheckedRequest, checkHistory } from "./request-check.ts";
import type { Sealer } from "./sealed.ts";

/** A request's conversation: as it is on the wire, and as the model reads it. */
export interface Conversation {
  readonly items: readonly WireItem[];
  readonly readable: readonly WireItem[];
}

/** All that a request goes on from, or what OpenAI would say against it. */
export function conversationOf(
  { previousResponseId, input }: Pick<CheckedRequest, "previousResponseId" | "input">,
  { store, sealer }: { readonly store: ResponseStore; readonly sealer: Sealer },
): Conversation {
  const before = previousResponseId === null ? [] : itemsBefore(previousResponseId, store);
  const own = input.filter(({ type }) => type !== "compaction_trigger");
  checkHistory([...before, ...own], { isStored: (id) => store.item(id) !== null });
  const items = [...before, ...own.map((item) => resolved(item, store))];
  checkSeals(items, sealer);
  return { items, readable: unsealed(items, sealer) };
}

function itemsBefore(id: string, store: ResponseStore): readonly WireItem[] {
  const previous = store.get(id);
  if (previous?.stored) return windowOf(previous);
  const message = `Previous response with id '${id}' not found.`;
  const param = "previous_response_id";
  throw new ApiProblem(400, message, { param, code: "previous_response_not_found" });
}

/** What goes on from a response that was compacted goes on from the compaction. */
function windowOf({ response, items }: StoredResponse): readonly WireItem[] {
  const all = items as readonly WireItem[];
  const { output } = response as { readonly output: readonly WireItem[] };
  const last = all.findLastIndex(({ type }) => type === "compaction");
  return last >= all.length - output.length ? all.slice(last) : all;
}

/** What is only named, as it was kept. */
function resolved(item: WireItem, store: ResponseStore): WireItem {
  const isNamed = item["type"] === "item_reference" || isBareReasoning(item);
  return isNamed ? (store.item(String(item["id"])) ?? item) : item;
}

function isBareReasoning({ type, encrypted_content: sealed }: WireItem): boolean {
  return type === "reasoning" && !sealed;
}

function checkSeals(items: readonly WireItem[], sealer: Sealer): void {
  for (const [place, { type, encrypted_content: sealed }] of items.entries()) {
    if (type !== "reasoning" || typeof sealed !== "string" || sealed === "") continue;
    if (sealer.open(sealed)) continue;
    throw tampered(place);
  }
}
