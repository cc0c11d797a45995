/**
 * Measures the inspector's page on a session with 10,000 events, in Chromium: the time from the navigation to the painted
 * timeline, and from a keystroke in the search box to the painted result.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChromium } from "../scripts/picture/start-chromium.ts";
import { openSource } from "../src/inspect/sources/open-source.ts";
import { startInspector } from "../src/inspect/start-inspector.ts";
import { chromiumPath } from "../tests/support/chromium-path.ts";
import { writeLongSession } from "../tests/support/inspect/long-session.ts";
import { FILTER_TIME, PAINT_TIME } from "../tests/support/inspect/page-times.ts";
import { median } from "./median.ts";
import { createValue } from "./report/figure.ts";
import { countRounds, printResult } from "./report/part-result.ts";

const EVENTS = 10_000;
const ROUNDS = countRounds(7);

if (chromiumPath === null) {
  printResult({ figures: [], notes: ["Chromium is not installed."] });
  process.exit();
}
const folder = await mkdtemp(join(tmpdir(), "wink-bench-"));
try {
  await writeLongSession(join(folder, "long.jsonl"), EVENTS);
  const [paints, filters]: [number[], number[]] = [[], []];
  await using browser = await startChromium(chromiumPath);
  for (let round = 0; round < ROUNDS; round++) {
    await using inspector = await startInspector(await openSource({ target: folder }));
    const { browserContextId } = await browser.send("Target.createBrowserContext");
    const url = `${inspector.url}#session=long`;
    const { targetId } = await browser.send("Target.createTarget", { url, browserContextId });
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    await browser.send("Emulation.setFocusEmulationEnabled", { enabled: true }, String(sessionId));
    await browser.send("Page.bringToFront", {}, String(sessionId)); // others are not painted
    const evaluate = async (expression: string) => {
      const options = { expression, awaitPromise: true, returnByValue: true };
      const { result } = await browser.send("Runtime.evaluate", options, String(sessionId));
      return Number(Object(result).value);
    };
    paints.push(await evaluate(PAINT_TIME));
    const typed = evaluate(FILTER_TIME);
    await evaluate("0"); // the listener is registered
    await browser.send("Input.insertText", { text: "move_vent" }, String(sessionId));
    filters.push(await typed);
    await browser.send("Target.disposeBrowserContext", { browserContextId });
  }
  const [paint, filter] = [median(paints), median(filters)];
  printResult({
    figures: [
      createValue({ what: `first paint of ${EVENTS} events`, unit: "ms", goal: 1_000 }, paint),
      createValue({ what: `filter of ${EVENTS} events`, unit: "ms", goal: 100 }, filter),
    ],
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
