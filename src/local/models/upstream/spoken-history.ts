import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { callIn, resultIn } from "./past-calls.ts";
import { type SpokenPart, spokenParts, wordsOf } from "./spoken-parts.ts";

/** What was said or done at once, in an order that every wire takes: results follow their calls. */
export type SpokenTurn =
  | { readonly role: "system" | "developer" | "user"; readonly parts: readonly SpokenPart[] }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly SpokenCall[] };

/** A call with what came of it. */
export interface SpokenCall {
  readonly id: string;
  /** As it is offered to the model. */
  readonly name: string;
  readonly args: string;
  readonly result: readonly SpokenPart[];
}

/**
 * A conversation's items as turns. Calls that followed each other are one turn, unless a result was
 * known in between. Reasoning is left out: no two servers take it back in the same form.
 */
export function spokenHistory(
  items: readonly object[],
  nameOf: (hosted: string) => string,
  catalog: ToolCatalog,
): readonly SpokenTurn[] {
  const turns: SpokenTurn[] = [];
  const results = resultsByCall(items, catalog);
  let open: SpokenCall[] | null = null; // the last turn's calls, while more may join them
  for (const item of items.map((one): Item => ({ ...one }))) {
    const call = callIn(item, catalog);
    if (call) {
      const { id, isHosted, args } = call;
      const name = isHosted ? nameOf(call.name) : call.name;
      const result = call.result ?? results.get(id)?.shift() ?? NOTHING;
      if (!open) {
        open = [];
        turns.push({ role: "assistant", text: textBefore(turns), calls: open });
      }
      open.push({ id, name, args, result });
      if (call.result) open = null;
    } else if (resultIn(item, catalog)) open = null;
    else if (typeof item["role"] === "string") {
      open = null;
      turns.push(spokenMessage(item));
    }
  }
  return turns;
}

type Item = Readonly<Record<string, unknown>>;

const NOTHING: readonly SpokenPart[] = [{ text: "There is no result." }];

/** In their order: calls of different turns may share an id. */
function resultsByCall(
  items: readonly object[],
  catalog: ToolCatalog,
): Map<string, (readonly SpokenPart[])[]> {
  const results = new Map<string, (readonly SpokenPart[])[]>();
  for (const item of items) {
    const result = resultIn({ ...item }, catalog);
    if (!result) continue;
    const all = results.get(result.callId) ?? [];
    results.set(result.callId, [...all, result.parts]);
  }
  return results;
}

/** What the model said right before it called; that turn becomes one with the calls. */
function textBefore(turns: SpokenTurn[]): string {
  const last = turns.at(-1);
  if (last?.role !== "assistant" || last.calls.length > 0) return "";
  turns.pop();
  return last.text;
}

function spokenMessage({ role, content }: Item): SpokenTurn {
  const parts = spokenParts(content);
  if (role === "assistant") return { role, text: wordsOf(parts), calls: [] };
  return { role: role === "system" || role === "developer" ? role : "user", parts };
}
