import type { ModelRequest } from "weakincentives/local";
import { isPlainObject } from "../../../src/base/freeze.ts";
import { readRecords, readString } from "../../../src/base/json.ts";
import type { WireItem } from "../../../src/openai/wire.ts";

/** Readers of results for models that react to them; `null` while there are none. */

/** Returns the output of the last code. */
export function readPrinted({ items }: ModelRequest): string | null {
  const call = findLast(items, "code_interpreter_call");
  return (
    call &&
    readRecords(call, "outputs")
      .map((part) => readString(part, "logs"))
      .join("")
  );
}

/** Returns the output of the last function call. */
export function readFunctionOutput({ items }: ModelRequest): string | null {
  const item = findLast(items, "function_call_output");
  return item && readString(item, "output");
}

/** Returns the best passage of the last file search. */
export function readPassage({ items }: ModelRequest): string | null {
  const call = findLast(items, "file_search_call");
  const [best] = call ? readRecords(call, "results") : [];
  return best ? readString(best, "text") : null;
}

function findLast(items: readonly object[], type: string): WireItem | null {
  return items.filter(isPlainObject).findLast((item) => item["type"] === type) ?? null;
}
