import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { definePrompt, Session } from "weakincentives";
import { JsonlSessionStore } from "weakincentives/stores";
import { scriptedClient } from "weakincentives/testing";
import { LiveSession } from "../src/inspect/live-session.ts";
import { openSource } from "../src/inspect/sources/open-source.ts";
import { SingleSource } from "../src/inspect/sources/single-source.ts";
import { startInspector } from "../src/inspect/start-inspector.ts";
import { type Browser, type BrowserPage, startChromium } from "./support/chromium.ts";
import { chromiumPath } from "./support/chromium-path.ts";
import { createHostileRecords } from "./support/inspect/hostile-records.ts";
import { writeLongSession } from "./support/inspect/long-session.ts";
import { FILTER_TIME, PAINT_TIME } from "./support/inspect/page-times.ts";
import { pressKey } from "./support/inspect/press-key.ts";

let browser: Browser;
/** A folder with the session of `wink demo`. */
let demo: string;

async function createFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "wink-inspect-page-"));
}

async function createTestFolder(): Promise<string> {
  const folder = await createFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens the inspector of a file, a folder or a source in the browser. */
async function open(source: string | SingleSource, fragment = ""): Promise<BrowserPage> {
  const opened = typeof source === "string" ? await openSource({ target: source }) : source;
  const inspector = await startInspector(opened);
  onTestFinished(() => inspector[Symbol.asyncDispose]());
  const page = await browser.open(`${inspector.url}${fragment}`);
  await resize(page, 1_400, 1_000);
  return page;
}

async function resize(page: BrowserPage, width: number, height: number): Promise<void> {
  const size = { width, height, deviceScaleFactor: 1, mobile: false };
  await page.send("Emulation.setDeviceMetricsOverride", size);
}

const title = 'document.querySelector(".detail-body h2")?.innerText ?? null';
const selected = 'document.querySelector(".row.is-selected .title")?.innerText ?? null';
const titles = '[...document.querySelectorAll(".row .title")].map((one) => one.innerText)';
const details = '(document.getElementById("detail")?.innerText ?? "")';
const row = (name: string) => `.row[id="row-${name}"]`;
const focused = "document.activeElement.id";

describe.skipIf(!chromiumPath)("the inspector in Chromium", () => {
  beforeAll(async () => {
    browser = await startChromium(chromiumPath ?? "");
    demo = await createFolder();
    const args = ["src/cli/main.ts", "demo", "--store", demo];
    await promisify(execFile)(process.execPath, args);
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await rm(demo, { recursive: true, force: true });
  });

  /** Opens the demo's session with a click in the list. */
  async function openDemo(): Promise<BrowserPage> {
    const page = await open(demo);
    await page.expectValue('document.querySelector(".chip")?.innerText', "done");
    await page.click("a.session");
    await page.expectValue(title, "Overview");
    return page;
  }

  test("explains the demo: the task, the answer, failures, rollbacks, the replaced container, files, cost and requests", async () => {
    const page = await openDemo();
    const overview = await page.evaluate<string>(details);
    expect(overview).toContain("6 turns with 9 calls, of which 2 failed. 3 files changed.");
    expect(overview).toContain("You run the greenhouse in Leiden overnight");
    expect(overview).toContain('"ventPercent": 100');
    expect(overview).toContain("Container lost and replaced");
    expect(overview).toContain("greenhouse/vent-plan.csv");
    expect(overview).toMatch(/\d+ requests with [\d.]+ kB: stored at the provider\./);
    expect(overview).toContain("POST /responses");
    expect(overview).toContain("5 files");
    const summary = await page.evaluate<string>('document.querySelector(".summary").innerText');
    expect(summary.replaceAll("\n", " ")).toMatch(
      /State done Prompt demo:greenhouse Model local \(openai\) Turns 6 Calls 9 \(2 failed\) Tokens [\d,]+ Cost \$0\.\d{4} /,
    );
  });

  test("shows a call with its params, result, place, duration and rollback after a click", async () => {
    const page = await openDemo();
    await page.click(row("1.1.3"));
    await page.expectValue(title, "set_vent");
    await page.expectValue(`${details}.includes("The vents jammed on the way to 140 %.")`, true);
    const text = await page.evaluate<string>(details);
    expect(text).toContain("Outcome\nfailed");
    expect(text).toContain("locally, in the process of the agent");
    expect(text).toContain("percent: 140");
    expect(text).toContain("A failed call is rolled back");
    expect(text).toContain("State rolled back");
    await page.expectValue(
      'document.querySelector(".row.is-undone .title").innerText',
      "VentMoved",
    );
    await page.click(row("1.1.2"));
    await page.expectValue(
      `${details}.includes("at openai") && ${details}.includes("Container\\ncntr_")`,
      true,
    );
    await page.expectValue(`${details}.includes("5 readings")`, true);
  });

  test("highlights citations in the text of a turn", async () => {
    const page = await openDemo();
    await page.click(row("1.1"));
    await page.expectValue(
      'document.querySelector("mark")?.firstChild.textContent',
      "https://weather.example/leiden.html",
    );
    await page.expectValue(
      'document.querySelector(".citations")?.innerText',
      "Leiden tonight – https://weather.example/leiden.html",
    );
  });

  test("shows the prompt as a tree with its tools", async () => {
    const page = await openDemo();
    await page.click(".row.kind-prompt");
    await page.expectValue(
      '[...document.querySelectorAll(".tree summary")].map((one) => one.innerText)',
      [
        ...[
          "1. Task (task)",
          "2. Workspace (workspace)",
          "3. Web Search (web_search)",
          "4. Log (log)",
        ],
      ],
    );
    const text = await page.evaluate<string>(details);
    for (const tool of ["set_vent", "report", "code_interpreter", "web_search", "apply_patch"])
      expect(text).toContain(tool);
  });

  test("shows the diff of a patch, and which files changed", async () => {
    const page = await openDemo();
    await page.click(row("1.3.1"));
    await page.expectValue(
      'document.querySelector(".diff .added")?.innerText.trim()',
      "+    return max(0, min(100, round((inside - warmest) * PERCENT_A_DEGREE)))",
    );
    await page.click("nav.path .crumb"); // back to the overview
    await page.expectValue(title, "Overview");
    await page.click(".files button");
    await page.expectValue(`${details}.includes("Start wink inspect with --files")`, true);
  });

  test("is used with the keyboard", async () => {
    const page = await openDemo();
    await pressKey(page, "j");
    await page.expectValue(selected, "demo:greenhouse");
    await pressKey(page, "j");
    await pressKey(page, "j");
    await pressKey(page, "k");
    await page.expectValue(selected, "Prompt");
    await pressKey(page, "n");
    await page.expectValue(selected, "set_vent");
    await pressKey(page, "p");
    await pressKey(page, "Enter", 13);
    await page.expectValue(focused, "detail");
    await pressKey(page, "Escape", 27);
    await page.expectValue(focused, "timeline");
    await pressKey(page, "G");
    await page.expectValue(selected, "Files copied back");
    await pressKey(page, "g");
    await pressKey(page, "ArrowLeft", 37);
    await page.expectValue(`${titles}.length`, 2);
    await pressKey(page, "ArrowRight", 39);
    await page.expectValue(`${titles}.length > 10`, true);
    await pressKey(page, "?");
    await page.expectValue(
      'document.querySelector("[role=dialog]")?.innerText.includes("previous line")',
      true,
    );
    await pressKey(page, "Escape", 27);
    await page.expectValue('document.querySelector("[role=dialog]")', null);
    await pressKey(page, "Escape", 27);
    await page.expectValue(title, "Overview");
    await pressKey(page, "l");
    await page.expectValue('document.querySelectorAll("a.session").length', 1);
  });

  test("searches the timeline and the whole events, and filters by kind", async () => {
    const page = await openDemo();
    await pressKey(page, "/");
    await page.expectValue(focused, "search");
    await page.send("Input.insertText", { text: "delft.html" }); // only in the result of the web search
    await page.expectValue(`${titles}.includes("report")`, false);
    await page.expectValue(`${titles}.includes("web_search")`, true);
    await pressKey(page, "Escape", 27);
    await pressKey(page, "Escape", 27);
    await page.expectValue(`${titles}.includes("report")`, true);
    await page.click('[data-kind="failed"]');
    await page.expectValue(titles, [
      "demo:greenhouse",
      "Turn 1",
      "set_vent",
      "State rolled back",
      "Turn 2",
      "report",
    ]);
    await page.expectValue('document.querySelector(".count").innerText', "3 of 28 entries");
    await page.click('[data-kind="rollback"]');
    await page.expectValue(titles, ["demo:greenhouse", "Turn 1", "set_vent", "State rolled back"]);
    await page.expectValue("location.hash.includes('kinds=rollback&failed=1')", true);
  });

  test("opens the entry of a link, also after a reload", async () => {
    const page = await openDemo();
    await page.click(row("1.2.1"));
    await page.expectValue(title, "report");
    await page.reload();
    await page.expectValue(title, "report");
    await page.evaluate("history.back()");
    await page.expectValue(title, "Overview");
    const hash = await page.evaluate<string>("location.hash");
    const other = await open(demo, `${hash}&at=1.4.2&q=percent`);
    await other.expectValue(title, "set_vent");
    await other.expectValue('document.getElementById("search").value', "percent");
  });

  test("has light and dark colors, by the system's setting and by a click", async () => {
    const page = await openDemo();
    const background = "getComputedStyle(document.body).backgroundColor";
    const emulate = (value: string) =>
      page.send("Emulation.setEmulatedMedia", {
        features: [{ name: "prefers-color-scheme", value }],
      });
    await emulate("light");
    await page.expectValue(background, "rgb(246, 247, 249)");
    await emulate("dark");
    await page.expectValue(background, "rgb(13, 17, 23)");
    await page.click("header button");
    await page.expectValue(background, "rgb(246, 247, 249)");
    await page.reload();
    await page.expectValue(background, "rgb(246, 247, 249)");
  });

  test("fits a narrow window, and names its parts for screen readers", async () => {
    const page = await openDemo();
    await resize(page, 400, 800);
    await page.expectValue("document.documentElement.scrollWidth <= window.innerWidth", true);
    for (const role of ["tree", "treeitem", "search", "status", "group"])
      await page.expectValue(`document.querySelector("[role=${role}]") !== null`, true);
    await page.click(row("1.1"));
    await page.expectValue(
      'document.getElementById("timeline").getAttribute("aria-activedescendant")',
      "row-1.1",
    );
    const unnamed =
      '[...document.querySelectorAll("button, input, a")].filter((one) => !(one.ariaLabel || one.innerText.trim())).length';
    expect(await page.evaluate(unnamed)).toBe(0);
  });

  test("follows a session that another process writes, turn by turn", async () => {
    const folder = await createTestFolder();
    await using store = new JsonlSessionStore(folder);
    const session = new Session({ store, id: "running" });
    const prompt = definePrompt({ name: "poet", instructions: "Write." });
    await scriptedClient({ text: "First." }).evaluate(prompt, { session, input: "One." });
    await session.flush();
    const page = await open(folder, "#session=running");
    await page.expectValue(`${titles}.filter((one) => one.startsWith("Turn")).length`, 1);
    await scriptedClient({ text: "Second." }).evaluate(prompt, {
      session,
      input: "Two.",
      continue: false,
    });
    await page.expectValue(`${titles}.filter((one) => one.startsWith("Turn")).length`, 2);
    await page.expectValue(`${details}.includes("Second.")`, true);
    await session.close();
  });

  test("shows the text of a session in this process as it arrives", async () => {
    const session = new Session({ id: "live" });
    using live = new LiveSession(session);
    const page = await open(
      new SingleSource({ label: "this process", id: "live", feed: live, readBytes: undefined }),
    );
    await page.expectValue(title, "Overview");
    const gate = Promise.withResolvers<void>();
    const model = scriptedClient(async ({ observer }) => {
      observer?.onPart({ type: "text", turn: 1, delta: "Roses are" });
      await gate.promise;
      return { text: "Roses are red." };
    });
    const stream = model.stream(definePrompt({ name: "poet", instructions: "Write." }), {
      session,
    });
    const reading = (async () => {
      for await (const part of stream) live.addPart(part);
    })();
    await page.expectValue('document.querySelector(".live")?.innerText', "Turn 1 Roses are");
    gate.resolve();
    await reading;
    await page.expectValue('document.querySelector(".live")', null);
    await page.expectValue(`${details}.includes("Roses are red.")`, true);
  });

  test("runs nothing that a session contains, in any field of any event", async () => {
    const file = join(await createTestFolder(), "hostile.jsonl");
    await writeFile(
      file,
      createHostileRecords()
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(""),
    );
    const page = await open(file);
    await page.expectValue(title, "Overview");
    const count = await page.evaluate<number>(
      'Number.parseInt(document.querySelector(".count").innerText)',
    );
    expect(count).toBeGreaterThan(15);
    for (let at = 0, last = ""; at < count; at++) {
      await pressKey(page, "j");
      const key = 'document.querySelector(".row.is-selected")?.id ?? ""';
      await expect.poll(() => page.evaluate(key)).not.toBe(last);
      last = await page.evaluate<string>(key);
      await page.expectValue(
        `document.querySelector(".detail-body h2") !== null && !${details}.includes("Loading …")`,
        true,
      );
      await page.evaluate(
        'for (const fold of document.querySelectorAll(".json-fold[aria-expanded=false], .files button")) fold.click()',
      );
    }
    expect(await page.evaluate("document.body.innerText.match(/[\\u202e\\0]/g)")).toBeNull();
    await page.click("header nav a, header nav span");
    expect(
      await page.evaluate(
        "[window.hacked ?? null, document.title, document.querySelectorAll('#app :is(img, script, iframe, svg, object, style, form, base)').length]",
      ),
    ).toEqual([null, "wink inspect", 0]);
    // All links stay on the page.
    expect(
      await page.evaluate(
        '[...document.querySelectorAll("a")].filter((one) => !one.getAttribute("href").startsWith("#")).length',
      ),
    ).toBe(0);
  });

  test("runs no script and sends nothing to other servers, even if markup gets into the page", async () => {
    const page = await openDemo();
    await page.evaluate(
      "window.refused = []; document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => window.refused.push(effectiveDirective))",
    );
    const attempts = [
      "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.hacked = 1' }))",
      "document.body.innerHTML += '<img src=x onerror=\"window.hacked = 1\">'",
      "eval('window.hacked = 1')",
      "setTimeout('window.hacked = 1')",
      "document.body.append(Object.assign(document.createElement('iframe'), { src: 'https://evil.example' }))",
      "document.body.append(Object.assign(document.createElement('img'), { src: 'https://evil.example/a.png' }))",
      "fetch('https://evil.example')",
    ];
    for (const attempt of attempts) {
      const expression = `(async () => { try { await (${attempt}); } catch {} })()`;
      const options = { awaitPromise: true, allowUnsafeEvalBlockedByCSP: false };
      await page.send("Runtime.evaluate", { expression, ...options });
    }
    await page.expectValue(
      "['frame-src', 'img-src', 'connect-src', 'require-trusted-types-for'].filter((one) => !window.refused.includes(one))",
      [],
    );
    expect(await page.evaluate("window.hacked ?? null")).toBeNull();
  });

  test("is fast with 10,000 events", async () => {
    const folder = await createTestFolder();
    await writeLongSession(join(folder, "long.jsonl"), 10_000);
    const page = await open(folder, "#session=long");
    const paint = await page.evaluate<number>(PAINT_TIME);
    expect(await page.evaluate('document.querySelectorAll(".row").length')).toBeLessThan(100);
    await page.expectValue('document.querySelector(".count").innerText', "10,000 entries");
    const filtering = page.evaluate<number>(FILTER_TIME);
    await page.evaluate("0"); // the listener is registered
    await page.send("Input.insertText", { text: "move_vent" });
    const filter = await filtering;
    process.stdout.write(`First paint ${paint.toFixed(0)} ms, filter ${filter.toFixed(0)} ms\n`);
    // `node bench/inspect.ts` measures; on a busy machine these limits only notice the wrong order of growth.
    expect(paint).toBeLessThan(10_000);
    expect(filter).toBeLessThan(2_000);
    await page.evaluate('document.getElementById("timeline").scrollTop = 1e9');
    await page.expectValue('document.querySelectorAll(".row").length > 5', true);
    await appendFile(
      join(folder, "long.jsonl"),
      `${JSON.stringify({ kind: "event", event: { type: "DayBroke" } })}\n`,
    );
    await page.evaluate('document.getElementById("search").blur()');
    await pressKey(page, "Escape", 27);
    await page.expectValue('document.querySelector(".count").innerText', "10,001 entries");
  });
});
