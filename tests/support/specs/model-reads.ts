import type { ModelRequest } from "weakincentives/local";
import { isPlainObject } from "../../../src/base/freeze.ts";
import { recordsAt, textAt } from "../../../src/base/reading.ts";
import type { WireItem } from "../../../src/openai/wire.ts";

/** What a model that goes by its results reads; `null` while there are none. */

/** What the last run of code printed. */
export function printed({ items }: ModelRequest): string | null {
  const call = lastOf(items, "code_interpreter_call");
  return (
    call &&
    recordsAt(call, "outputs")
      .map((part) => textAt(part, "logs"))
      .join("")
  );
}

/** What the last function gave. */
export function given({ items }: ModelRequest): string | null {
  const item = lastOf(items, "function_call_output");
  return item && textAt(item, "output");
}

/** The best passage of the last search of files. */
export function passage({ items }: ModelRequest): string | null {
  const call = lastOf(items, "file_search_call");
  const [best] = call ? recordsAt(call, "results") : [];
  return best ? textAt(best, "text") : null;
}

function lastOf(items: readonly object[], type: string): WireItem | null {
  return items.filter(isPlainObject).findLast((item) => item["type"] === type) ?? null;
}
