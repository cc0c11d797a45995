import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { SessionFeed } from "../src/inspect/inspector-source.ts";
import { startInspector } from "../src/inspect/start-inspector.ts";
import { type Browser, type BrowserPage, startChromium } from "./support/chromium.ts";
import { chromiumPath } from "./support/chromium-path.ts";
import { createEventFeed, MemorySource } from "./support/inspect/memory-source.ts";
import { pressKey } from "./support/inspect/press-key.ts";

let browser: Browser;

/** Opens the inspector of sessions in memory in the browser. */
async function openSessions(
  sessions: Readonly<Record<string, SessionFeed>>,
  fragment = "",
): Promise<BrowserPage> {
  const inspector = await startInspector(new MemorySource(sessions));
  onTestFinished(() => inspector[Symbol.asyncDispose]());
  return await browser.open(`${inspector.url}${fragment}`);
}

const started = { type: "EvaluationStarted", promptName: "baker", adapter: "local" };
const turn = (number: number, more: object = {}) => ({
  ...{ type: "TurnCompleted", turn: number, text: `Text ${number}.`, toolCalls: [] },
  ...{ hostedCalls: [], model: "gpt", ...more },
});
const answered = { type: "PromptExecuted", text: "Done." };

const count = 'document.querySelector(".count")?.innerText';
const selected = 'document.querySelector(".row.is-selected .title")?.innerText ?? null';
const details = '(document.getElementById("detail")?.innerText ?? "")';
const diff = '[...document.querySelectorAll(".diff .line")].map((one) => one.innerText.trim())';
const live = 'document.querySelector(".live")?.innerText ?? null';
const focused = "document.activeElement.innerText";

describe.skipIf(!chromiumPath)("the state of the inspector's page in Chromium", () => {
  beforeAll(async () => {
    browser = await startChromium(chromiumPath ?? "");
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
  });

  test("searches the whole events when the fragment changes, and when the reader goes back", async () => {
    const hidden = { type: "Mine", text: `${"x".repeat(500)} needle` };
    const page = await openSessions(
      { a: createEventFeed([started, turn(1), hidden]) },
      "#session=a",
    );
    await page.expectValue(count, "3 entries");
    await page.evaluate('location.hash = "#session=a&q=needle"');
    await page.expectValue(count, "1 of 3 entries");
    await page.evaluate('location.hash = "#session=a&q=nothing"');
    await page.expectValue(count, "0 of 3 entries");
    await page.evaluate("history.back()");
    await page.expectValue(count, "1 of 3 entries");
    await page.evaluate("history.go(-1)");
    await page.expectValue(count, "3 entries");
  });

  test("shows that a finished session of the list continues", async () => {
    const events: object[] = [started, turn(1), answered];
    const page = await openSessions({ a: createEventFeed(events) });
    const cells = '[...document.querySelectorAll("a.session span")].map((one) => one.innerText)';
    await page.expectValue(`${cells}.slice(1, 3)`, ["done", "done"]);
    events.push({ ...started, promptName: "miller" }, turn(1), turn(2));
    await page.expectValue(`${cells}.slice(1, 4)`, ["not finished", "not finished", "miller"]);
    await page.expectValue(`${cells}[5]`, "3");
  });

  test("works if the browser blocks site data", async () => {
    const page = await openSessions({ a: createEventFeed([started]) }, "#session=a");
    const source =
      'Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError"); } })';
    await page.send("Page.enable");
    await page.send("Page.addScriptToEvaluateOnNewDocument", { source });
    await page.reload();
    await page.expectValue(count, "1 entry");
    const theme = "document.documentElement.dataset.theme";
    await page.expectValue(theme, "system");
    await pressKey(page, "t");
    await page.expectValue(`["light", "dark"].includes(${theme})`, true);
  });

  test("shows the lines of a file as it is now, and hides them with a second click", async () => {
    const contents = new Map<string, Buffer>();
    const keep = (text: string, more: object = {}) => {
      const bytes = Buffer.from(text);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      contents.set(sha256, bytes);
      const files = { "a.txt": { sha256, bytes: bytes.length, mode: 0o644 } };
      return { type: "WorkspaceKept", manifest: { section: "w", deleted: [], files, ...more } };
    };
    const events: object[] = [started, keep("one\n", { isComplete: true }), keep("two\n")];
    const readBytes = async (sha256: string) => contents.get(sha256) ?? null;
    const page = await openSessions({ a: createEventFeed(events, { readBytes }) }, "#session=a");
    await page.expectValue('document.querySelectorAll(".files button").length', 1);
    await page.click(".files button");
    await page.expectValue(`${diff}.filter((line) => /^[+-]\\w/.test(line))`, ["-one", "+two"]);
    await page.click(".files button");
    await page.expectValue(diff, []);
    await page.click(".files button");
    await page.expectValue(`${diff}.includes("+two")`, true);
    events.push(keep("three\n"));
    await page.expectValue(diff, []);
    await page.click(".files button");
    await page.expectValue(`${diff}.filter((line) => /^[+-]\\w/.test(line))`, ["-one", "+three"]);
  });

  test("says that calls failed, and not that they were rolled back: a provider's call is not", async () => {
    const origin = { execution: "provider", provider: "openai" };
    const failed = { type: "ToolInvoked", name: "search", result: { success: false }, origin };
    const page = await openSessions(
      { a: createEventFeed([started, turn(1), failed]) },
      "#session=a",
    );
    await page.expectValue(`${details}.includes("1 turn with 1 call, of which 1 failed. ")`, true);
    await page.expectValue(`${details}.includes("rolled back")`, false);
  });

  test("escapes invisible characters in the header, in facts and in the text that arrives", async () => {
    const name = "a\u202eb";
    const watchText: SessionFeed["watchText"] = (onText) => {
      onText(2, name);
      return { [Symbol.dispose]() {} };
    };
    const events = [{ ...started, promptName: name }, turn(1, { model: name, requestId: name })];
    const feed = createEventFeed(events, { watchText });
    const page = await openSessions({ a: feed }, "#session=a&at=1.1");
    await page.expectValue(live, "Turn 2 a\\u{202e}b");
    await page.expectValue(`${details}.includes("Request id\\na\\\\u{202e}b")`, true);
    expect(await page.evaluate("document.body.innerText.match(/\\u202e/g)")).toBeNull();
    const summary = await page.evaluate<string>('document.querySelector(".summary").innerText');
    expect(summary).toContain("Prompt\na\\u{202e}b");
  });

  test("shows hashes and call ids of requests to the provider", async () => {
    const sha256 = "0123456789abcdef".repeat(4);
    const files = [{ mount: "docs", path: "a.txt", sha256: sha256.replaceAll("0", "f") }];
    const toolOutputs = ["call_1", "call_2\u202e"];
    const request = { endpoint: "POST /responses", bytes: 3, sha256, stored: true };
    const egress = { verdict: "stored", requests: [{ ...request, files, toolOutputs }] };
    const events = [started, answered, { type: "EgressReported", egress }];
    const page = await openSessions({ a: createEventFeed(events) }, "#session=a");
    const items = '[...document.querySelectorAll(".egress li")].map((one) => one.textContent)';
    await page.expectValue(items, ["call_1", "call_2\\u{202e}", "docs/a.txt f123456789ab"]);
    const hash = `document.querySelector('.egress code[title="${sha256}"]')?.innerText`;
    await page.expectValue(hash, "0123456789ab");
    const summaries =
      '[...document.querySelectorAll(".egress summary")].map((one) => one.innerText)';
    await page.expectValue(summaries, ["2 tool outputs", "1 file"]);
  });

  test("keeps the focus and the keys in the help while it is open", async () => {
    const page = await openSessions({ a: createEventFeed([started, turn(1)]) }, "#session=a");
    await page.expectValue(count, "2 entries");
    await page.evaluate('document.getElementById("timeline").focus()');
    await pressKey(page, "j");
    await page.expectValue(selected, "baker");
    await pressKey(page, "?");
    await page.expectValue(focused, "Close");
    await pressKey(page, "Tab", 9);
    await pressKey(page, "j");
    await pressKey(page, "t");
    await page.expectValue('document.documentElement.dataset.theme === "system"', false);
    expect(await page.evaluate(selected)).toBe("baker");
    expect(await page.evaluate(focused)).toBe("Close");
    await pressKey(page, "Escape", 27);
    await page.expectValue('document.querySelector("[role=dialog]")', null);
    await page.expectValue("document.activeElement.id", "timeline");
    await pressKey(page, "j");
    await page.expectValue(selected, "Turn 1");
  });

  test("moves through the list of sessions with keys", async () => {
    const feed = createEventFeed([started]);
    const ids = Array.from({ length: 200 }, (_, n) => `s${String(n).padStart(3, "0")}`);
    const page = await openSessions(Object.fromEntries(ids.map((id) => [id, feed])));
    const session = 'document.activeElement.querySelector(".session-id")?.innerText ?? null';
    await page.expectValue('document.querySelectorAll("a.session").length > 5', true);
    await pressKey(page, "j");
    await page.expectValue(session, "s000");
    for (let n = 1; n <= 60; n++) {
      await pressKey(page, n % 2 === 0 ? "j" : "ArrowDown", n % 2 === 0 ? undefined : 40);
      await page.expectValue(session, ids[n]);
    }
    await pressKey(page, "k");
    await pressKey(page, "ArrowUp", 38);
    await page.expectValue(session, "s058");
    await pressKey(page, "Enter", 13);
    await page.expectValue('location.hash.includes("s058")', true);
  });

  test("does not repeat the text that arrives when the browser connects again", async () => {
    let tell: ((turn: number, delta: string | null) => void) | undefined;
    const watchText: SessionFeed["watchText"] = (onText) => {
      tell = onText;
      return { [Symbol.dispose]() {} };
    };
    const feed = createEventFeed([started], { watchText });
    const page = await openSessions({ a: feed }, "#session=none");
    const source =
      "window.EventSource = class extends EventSource { constructor(url) { super(url); window.events = this; } }";
    await page.send("Page.enable");
    await page.send("Page.addScriptToEvaluateOnNewDocument", { source });
    await page.evaluate('location.hash = "#session=a"');
    await page.reload();
    await expect.poll(() => tell).toBeDefined();
    tell?.(1, "Roses are");
    await page.expectValue(live, "Turn 1 Roses are");
    // What the browser does after a lost connection: the server then sends the end of the text.
    await page.evaluate('window.events.dispatchEvent(new Event("open"))');
    tell?.(1, "Roses are red");
    await page.expectValue(live, "Turn 1 Roses are red");
  });
});
