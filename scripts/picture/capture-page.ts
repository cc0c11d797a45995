import { type SendCommand, startChromium } from "./start-chromium.ts";

/** The page of a picture, and when it is taken. */
export interface CaptureOptions {
  readonly url: string;
  readonly width: number;
  readonly height: number;
  /** An expression that is true once the page is ready. */
  readonly isReady: string;
  /** @default "light" */
  readonly colors?: "light" | "dark";
}

/** Takes pictures of pages with headless Chromium, as PNG files. */
export async function capturePages(
  chromium: string,
  pages: readonly CaptureOptions[],
): Promise<readonly Buffer[]> {
  await using browser = await startChromium(chromium);
  const pictures: Buffer[] = [];
  for (const page of pages) pictures.push(await capturePage(browser.send, page));
  return pictures;
}

async function capturePage(
  send: SendCommand,
  { url, width, height, isReady, colors = "light" }: CaptureOptions,
): Promise<Buffer> {
  const { browserContextId } = await send("Target.createBrowserContext");
  const { targetId } = await send("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const page = (method: string, params?: object) => send(method, params, String(sessionId));
  const features = [{ name: "prefers-color-scheme", value: colors }];
  await page("Emulation.setEmulatedMedia", { features });
  const size = { width, height, deviceScaleFactor: 1, mobile: false };
  await page("Emulation.setDeviceMetricsOverride", size);
  await page("Page.navigate", { url });
  for (let tries = 0; tries < 200; tries++) {
    const { result } = await page("Runtime.evaluate", { expression: isReady });
    if (Object(result).value === true) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await page("Page.bringToFront");
  const { data } = await page("Page.captureScreenshot", { format: "png" });
  await send("Target.disposeBrowserContext", { browserContextId });
  return Buffer.from(String(data), "base64");
}
