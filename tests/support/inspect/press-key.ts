import type { BrowserPage } from "../chromium.ts";

/** Presses a key, as a user does. */
export async function pressKey(
  page: BrowserPage,
  key: string,
  code = key.charCodeAt(0),
): Promise<void> {
  const text = key.length === 1 ? key : undefined;
  const event = { key, text, windowsVirtualKeyCode: code };
  await page.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", ...event });
  await page.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
}
