import { resolve } from "node:path";
import { escapeControls } from "../escape-controls.ts";
import { pluralize } from "../pluralize.ts";
import type { StoreChoice } from "./add-store-options.ts";
import { checkSession } from "./check-session.ts";
import { readLines } from "./read-lines.ts";
import type { ExportOptions } from "./sessions-actions.ts";
import { useStore } from "./use-store.ts";
import { writeNewFile } from "./write-new-file.ts";
import { writeOutput } from "./write-output.ts";

/** Writes the records of a session as lines of JSON, as they are stored, to a file or to standard output. */
export async function exportSession(
  choice: StoreChoice,
  { id, out, force }: ExportOptions,
): Promise<void> {
  await useStore(choice, async (store) => {
    await checkSession(store, id);
    const lines = readLines(store, { place: choice.place, id });
    if (out === undefined) return await printLines(lines);
    const { count, bytes } = await writeNewFile(resolve(out), lines, { force });
    const size = `${pluralize(count, "record")}, ${pluralize(bytes, "byte")}`;
    console.log(`Wrote ${escapeControls(out)}: ${size}.`);
  });
}

async function printLines(lines: AsyncIterable<Uint8Array>): Promise<void> {
  const isTerminal = process.stdout.isTTY === true;
  for await (const line of lines) await writeOutput(isTerminal ? escapeLine(line) : line);
}

/** Escapes the control characters that JSON does not, for a terminal. The line stays the same JSON. */
function escapeLine(line: Uint8Array): string {
  const text = new TextDecoder().decode(line);
  return text.replace(/(?!\n)\p{C}/gu, (one) =>
    Array.from({ length: one.length }, (_, index) => {
      return `\\u${one.charCodeAt(index).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}
