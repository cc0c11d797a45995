/** Runs `wink demo` and writes docs/inspector.png, a picture of the inspector on its session. Needs Chromium. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSource } from "../src/inspect/sources/open-source.ts";
import { SingleSource } from "../src/inspect/sources/single-source.ts";
import { startInspector } from "../src/inspect/start-inspector.ts";
import { chromiumPath } from "../tests/support/chromium-path.ts";
import { capturePages } from "./picture/capture-page.ts";
import { optimizePng } from "./picture/optimize-png.ts";

if (chromiumPath === null) throw new Error("Chromium is not installed.");
const folder = mkdtempSync(join(tmpdir(), "wink-picture-"));
try {
  execFileSync(process.execPath, ["src/cli/main.ts", "demo", "--store", folder]);
  const stored = await openSource({ target: folder });
  const { sessions } = await stored.list();
  const feed = await stored.open(sessions[0]?.id ?? "");
  if (!feed) throw new Error("The demo has stored no session.");
  // The real path and id differ from run to run.
  const source = new SingleSource({ label: "demo", id: "greenhouse", feed, readBytes: undefined });
  await using inspector = await startInspector(source);
  const isReady = 'document.querySelector(".detail-body h2")?.innerText === "Overview"';
  const page = { url: inspector.url, width: 1_280, height: 760, isReady };
  const [picture] = await capturePages(chromiumPath, [page]);
  if (picture) writeFileSync("docs/inspector.png", optimizePng(picture));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
