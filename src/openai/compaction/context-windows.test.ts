import { expect, it } from "vitest";
import { CONTEXT_WINDOWS_DATE, findContextWindow } from "./context-windows.ts";

it.each([
  ["gpt-5.2", 400_000],
  ["gpt-5.2-2025-12-11", 400_000],
  ["gpt-5.2-chat-latest", 128_000],
  ["gpt-5.4", 1_050_000],
  ["gpt-5.4-mini-2026-03-17", 400_000],
  ["gpt-4o-mini", 128_000],
  ["gpt-4-0613", 8_192],
  ["gpt-4.1-nano", 1_047_576],
  ["o1-mini-2024-09-12", 128_000],
  ["o3-pro", 200_000],
])("findContextWindow() uses the longest prefix of %s", (model, tokens) => {
  expect(findContextWindow(model)).toBe(tokens);
});

it.each(["", "local", "gpt", "my-gpt-5.2", "claude-opus-4", "constructor"])(
  "findContextWindow() does not know %j",
  (model) => {
    expect(findContextWindow(model)).toBeNull();
  },
);

it("the table of context windows has a date", () => {
  expect(CONTEXT_WINDOWS_DATE).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});
