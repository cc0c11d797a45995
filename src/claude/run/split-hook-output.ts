import type { UnknownRecord } from "../../base/reading.ts";
import { textAt } from "../../base/reading.ts";

/** The most characters that one hook may return: the SDK puts a longer output into a file. */
const LONGEST = 9_000;

/** More hooks than the prompt needs now, because it may be rendered again and be longer. */
const SPARE_HOOKS = 8;

/** A hook of the SDK, called with what it is about. */
export type Hook = (input: UnknownRecord) => Promise<UnknownRecord>;

/**
 * Creates `count` hooks for one event that together return the text of `write`, each a part of it, in
 * order. The SDK calls all of them for every event; `write` is called once for each event.
 */
export function splitHookOutput(
  hookEventName: string,
  count: number,
  write: (input: UnknownRecord) => string | Promise<string>,
): readonly Hook[] {
  let latest = { number: 0, parts: Promise.resolve<readonly string[]>([]) };
  return Array.from({ length: count }, (_, index) => {
    const isLast = index === count - 1;
    let number = 0;
    return async (input) => {
      number += 1;
      if (latest.number !== number) latest = { number, parts: writeParts(write, input) };
      const parts = await latest.parts;
      const own = isLast ? parts.slice(index) : parts.slice(index, index + 1);
      const additionalContext = own.join("\n");
      if (additionalContext === "") return {};
      return { hookSpecificOutput: { hookEventName, additionalContext } };
    };
  });
}

/**
 * Creates the hooks that repeat the prompt after the SDK has compacted the conversation, where a
 * summary has taken the prompt's place. `prompt` returns the current text.
 */
export function repeatPromptHooks(prompt: () => string): UnknownRecord {
  const hooks = splitHookOutput("SessionStart", countParts(prompt()) + SPARE_HOOKS, (input) =>
    textAt(input, "source") === "compact" ? `The instructions read:\n\n${prompt()}` : "",
  );
  return { SessionStart: [{ hooks }] };
}

/** Counts the hooks that it takes to return a text. */
export function countParts(text: string): number {
  return splitText(text).length;
}

async function writeParts(
  write: (input: UnknownRecord) => string | Promise<string>,
  input: UnknownRecord,
) {
  return splitText(await write(input));
}

/** Keeps lines whole where they fit. */
function splitText(text: string): readonly string[] {
  const parts: string[] = [];
  for (const line of text.split("\n").flatMap(splitLine)) {
    const longer = `${parts.at(-1)}\n${line}`;
    if (parts.length > 0 && longer.length <= LONGEST) parts[parts.length - 1] = longer;
    else parts.push(line);
  }
  return parts;
}

function splitLine(line: string): readonly string[] {
  const count = Math.max(1, Math.ceil(line.length / LONGEST));
  return Array.from({ length: count }, (_, index) =>
    line.slice(index * LONGEST, (index + 1) * LONGEST),
  );
}
