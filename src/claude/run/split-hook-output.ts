import { readString, type UnknownRecord } from "../../base/json.ts";

/** Maximum characters of one hook's output. The SDK writes longer output to a file. */
const MAX_HOOK_CHARS = 9_000;

/** Hooks beyond the current need, because a newly rendered prompt may be longer. */
const SPARE_HOOKS = 8;

/** An SDK hook. */
export type Hook = (input: UnknownRecord) => Promise<UnknownRecord>;

/**
 * Creates `count` hooks for one event that each return a part of the text of `write`, in order. The
 * SDK calls all hooks for every event; `write` is called once per event. The last hook returns all
 * remaining parts.
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
      const ownParts = isLast ? parts.slice(index) : parts.slice(index, index + 1);
      const additionalContext = ownParts.join("\n");
      if (additionalContext === "") return {};
      return { hookSpecificOutput: { hookEventName, additionalContext } };
    };
  });
}

/**
 * Creates hooks that repeat the prompt after the SDK has compacted the conversation, because the
 * summary replaces the prompt. `repeat` returns the current text.
 */
export function createRepeatPromptHooks(repeat: () => string): UnknownRecord {
  const hooks = splitHookOutput("SessionStart", countParts(repeat()) + SPARE_HOOKS, (input) =>
    readString(input, "source") === "compact" ? repeat() : "",
  );
  return { SessionStart: [{ hooks }] };
}

/** Counts the hooks that are needed to return a text. */
export function countParts(text: string): number {
  return splitText(text).length;
}

async function writeParts(
  write: (input: UnknownRecord) => string | Promise<string>,
  input: UnknownRecord,
) {
  return splitText(await write(input));
}

/** Splits between lines where possible. */
function splitText(text: string): readonly string[] {
  const parts: string[] = [];
  for (const line of text.split("\n").flatMap(splitLine)) {
    const longer = `${parts.at(-1)}\n${line}`;
    if (parts.length > 0 && longer.length <= MAX_HOOK_CHARS) parts[parts.length - 1] = longer;
    else parts.push(line);
  }
  return parts;
}

function splitLine(line: string): readonly string[] {
  const count = Math.max(1, Math.ceil(line.length / MAX_HOOK_CHARS));
  return Array.from({ length: count }, (_, index) =>
    line.slice(index * MAX_HOOK_CHARS, (index + 1) * MAX_HOOK_CHARS),
  );
}
