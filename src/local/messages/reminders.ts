import type { WireItem } from "../../openai/wire.ts";

/** Removes the reminders that clients add before and after a text. */
export function removeReminders(text: string): string {
  return text.includes(OPENING) ? text.replaceAll(REMINDER, "").trim() : text;
}

const OPENING = "<system-reminder>";
const REMINDER = /\s*<system-reminder>[\s\S]*?<\/system-reminder>\s*/g;

/** Removes reminders from the texts of blocks, and omits blocks that contain only a reminder. */
export function removeReminderBlocks(blocks: readonly WireItem[]): readonly WireItem[] {
  const isReminder = ({ text }: WireItem) =>
    typeof text === "string" && text.includes(OPENING) && removeReminders(text) === "";
  return blocks.flatMap((block, place) => {
    const { text } = block;
    if (typeof text !== "string") return [block];
    if (isReminder(block)) return [];
    const next = blocks[place + 1];
    // The line break before a reminder belongs to the reminder.
    const own = next && isReminder(next) ? text.replace(/\n$/, "") : text;
    return [{ ...block, text: removeReminders(own) }];
  });
}
