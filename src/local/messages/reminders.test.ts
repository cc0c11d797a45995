import { describe, expect, test } from "vitest";
import { spokenTexts, withoutReminders } from "./reminders.ts";

const reminder = "<system-reminder>\nTake care.\n</system-reminder>";

describe("a reminder", () => {
  test("is taken out of what was said around it", () => {
    expect(withoutReminders(`${reminder}\nOne.\n\n${reminder}`)).toBe("One.");
    expect(withoutReminders(" One. ")).toBe(" One. ");
    expect(withoutReminders(reminder)).toBe("");
  });

  test("goes with the end of the line before it, and takes no other block with it", () => {
    const blocks = [
      { type: "text", text: reminder },
      { type: "image" },
      { type: "text", text: "One.\n" },
      { type: "text", text: reminder },
      { type: "text", text: "Two.\n" },
    ];
    expect(spokenTexts(blocks)).toEqual([
      { type: "image" },
      { type: "text", text: "One." },
      { type: "text", text: "Two.\n" },
    ]);
  });
});
