import { describe, expect, test } from "vitest";
import { removeReminderBlocks, removeReminders } from "./reminders.ts";

const reminder = "<system-reminder>\nTake care.\n</system-reminder>";

describe("a system reminder", () => {
  test("is removed from the text around it", () => {
    expect(removeReminders(`${reminder}\nOne.\n\n${reminder}`)).toBe("One.");
    expect(removeReminders(" One. ")).toBe(" One. ");
    expect(removeReminders(reminder)).toBe("");
  });

  test("is removed with the preceding line break, without affecting other blocks", () => {
    const blocks = [
      { type: "text", text: reminder },
      { type: "image" },
      { type: "text", text: "One.\n" },
      { type: "text", text: reminder },
      { type: "text", text: "Two.\n" },
    ];
    expect(removeReminderBlocks(blocks)).toEqual([
      { type: "image" },
      { type: "text", text: "One." },
      { type: "text", text: "Two.\n" },
    ]);
  });
});
