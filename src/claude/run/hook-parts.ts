import type { Given } from "../given.ts";

/** A hook may say no more, in characters: what is longer the SDK puts into a file. */
const LONGEST = 9_000;

type Hook = (input: Given) => Promise<Given>;

/**
 * `count` hooks of one event that together say what `say` gives, each a part of it, in order. The
 * SDK calls all of them for every event, and `say` is asked once for it.
 */
export function inParts(
  hookEventName: string,
  count: number,
  say: (input: Given) => string | Promise<string>,
): readonly Hook[] {
  let latest = { number: 0, saying: Promise.resolve<readonly string[]>([]) };
  return Array.from({ length: count }, (_, index) => {
    const isLast = index === count - 1;
    let number = 0;
    return async (input) => {
      number += 1;
      if (latest.number !== number) latest = { number, saying: parted(say, input) };
      const parts = await latest.saying;
      const own = isLast ? parts.slice(index) : parts.slice(index, index + 1);
      const additionalContext = own.join("\n");
      if (additionalContext === "") return {};
      return { hookSpecificOutput: { hookEventName, additionalContext } };
    };
  });
}

/** How many hooks it takes to say a text. */
export function partCount(text: string): number {
  return partsOf(text).length;
}

async function parted(say: (input: Given) => string | Promise<string>, input: Given) {
  return partsOf(await say(input));
}

/** Whole lines where they fit. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  for (const line of text.split("\n").flatMap(piecesOf)) {
    const longer = `${parts.at(-1)}\n${line}`;
    if (parts.length > 0 && longer.length <= LONGEST) parts[parts.length - 1] = longer;
    else parts.push(line);
  }
  return parts;
}

function piecesOf(line: string): readonly string[] {
  const count = Math.max(1, Math.ceil(line.length / LONGEST));
  return Array.from({ length: count }, (_, index) =>
    line.slice(index * LONGEST, (index + 1) * LONGEST),
  );
}
