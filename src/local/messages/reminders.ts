import type { WireItem } from "../../openai/wire.ts";

/** A text without the reminders that clients put in front of and behind what was said. */
export function withoutReminders(text: string): string {
  return text.includes(OPENING) ? text.replaceAll(REMINDER, "").trim() : text;
}

const OPENING = "<system-reminder>";
const REMINDER = /\s*<system-reminder>[\s\S]*?<\/system-reminder>\s*/g;

/** The texts of blocks without reminders; one that was nothing else is left out. */
export function spokenTexts(blocks: readonly WireItem[]): readonly WireItem[] {
  const isReminder = ({ text }: WireItem) =>
    typeof text === "string" && text.includes(OPENING) && withoutReminders(text) === "";
  return blocks.flatMap((block, place) => {
    const { text } = block;
    if (typeof text !== "string") return [block];
    if (isReminder(block)) return [];
    const next = blocks[place + 1];
    // The line's end that goes before a reminder came with it.
    const own = next && isReminder(next) ? text.replace(/\n$/, "") : text;
    return [{ ...block, text: withoutReminders(own) }];
  });
}
