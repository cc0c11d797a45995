import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Browser, startChromium } from "./support/chromium.ts";
import { chromiumPath } from "./support/chromium-path.ts";

const program = fileURLToPath(new URL("../examples/approval-page.ts", import.meta.url));
const useSources = new URL("support/agents/use-sources.ts", import.meta.url).href;

/** A process of the example that serves its page. */
interface Release {
  readonly url: string;
  /** The lines that it has printed after its URL. */
  readonly deployed: readonly string[];
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wink-approval-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the example, and waits until it serves its page. The version becomes a param of the call. */
async function start(folder: string, version = "2.0.1"): Promise<Release> {
  const args = ["--import", useSources, program, "--serve", folder, version];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  let [stdout, stderr] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const readLines = () => stdout.split("\n").slice(0, -1);
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (readLines().length > 0) resolve();
    });
    child.once("exit", () => reject(new Error(`The example ended: ${stderr}`)));
  });
  return {
    url: readLines()[0] ?? "",
    get deployed() {
      return readLines().slice(1);
    },
    kill,
  };
}

/** Starts the example, kills it while it waits for the decision, and starts it again. */
async function restart(folder: string, version?: string): Promise<Release> {
  const first = await start(folder, version);
  await first.kill();
  expect(first.deployed).toEqual([]);
  return await start(folder, version);
}

const content = 'document.querySelector("main").innerText.trim()';
const buttons = 'document.querySelectorAll("button").length';
const params = 'document.querySelector("pre")?.innerText ?? null';
const done = "It is deployed.";
const denied = "The call was not made: it was denied.";

describe.skipIf(!chromiumPath)("the approval page in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium(chromiumPath ?? "");
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
  });

  test("shows a call that a killed process left behind, and runs it once after the click on Approve", async () => {
    const folder = await createFolder();
    const release = await restart(folder);
    const page = await browser.open(release.url);
    await page.expectValue('document.querySelector("h1")?.innerText ?? null', "May deploy run?");
    expect(JSON.parse(await page.evaluate<string>(params))).toEqual({ version: "2.0.1" });
    expect(release.deployed).toEqual([]);
    await page.click("button[value=approve]");
    await page.expectValue(content, done);
    await page.reload();
    await page.expectValue(content, done);
    expect(release.deployed).toEqual(["Deployed 2.0.1"]);
    await release.kill();
    const next = await start(folder);
    await (await browser.open(next.url)).expectValue(content, done);
    expect(next.deployed).toEqual([]);
  });

  test("tells the model after the click on Deny, and the next process shows its answer too", async () => {
    const folder = await createFolder();
    const release = await restart(folder);
    const page = await browser.open(release.url);
    await page.expectValue(buttons, 2);
    await page.click("button[value=deny]");
    await page.expectValue(`${content}.slice(0, ${denied.length})`, denied);
    expect(release.deployed).toEqual([]);
    await release.kill();
    const next = await start(folder);
    const other = await browser.open(next.url);
    await other.expectValue(`${content}.slice(0, ${denied.length})`, denied);
    expect(next.deployed).toEqual([]);
  });

  test("is used with the keyboard", async () => {
    const release = await restart(await createFolder());
    const page = await browser.open(release.url);
    await page.expectValue(buttons, 2);
    const press = async (type: string, key: string, code: number, text?: string) =>
      await page.send("Input.dispatchKeyEvent", {
        type,
        ...{ key, code: key, text, windowsVirtualKeyCode: code },
      });
    await press("rawKeyDown", "Tab", 9);
    await page.expectValue("document.activeElement.value", "approve");
    await press("keyDown", "Enter", 13, "\r");
    await page.expectValue(content, done);
  });

  test("shows markup and invisible characters of a model as text, and runs no script", async () => {
    const markup = `</pre><img src="x" onerror="document.title = 'Hacked'"><script>document.title = 'Hacked'</script>`;
    const version = `${markup}\u202e\u200b`;
    const release = await restart(await createFolder(), version);
    const page = await browser.open(release.url);
    await page.expectValue(buttons, 2);
    const text = await page.evaluate<string>(params);
    expect(text).toContain(JSON.stringify(markup).slice(1, -1));
    expect(text).toContain(encodeURIComponent("\u202e\u200b"));
    expect(await page.evaluate('document.querySelectorAll("img, script").length')).toBe(0);
    const inject = `document.body.append(Object.assign(document.createElement("script"), { text: "document.title = 'Hacked'" }))`;
    await page.evaluate(inject);
    expect(await page.evaluate("document.title")).toBe("Approvals");
    await page.click("button[value=approve]");
    await page.expectValue(content, done);
    expect(release.deployed).toEqual([`Deployed ${version}`]);
  });

  test("wraps long params, so that none of the text is outside of the window", async () => {
    const release = await restart(await createFolder(), `2.0.1 ${"and 2.0.2 ".repeat(200)}`);
    const page = await browser.open(release.url);
    await page.expectValue(buttons, 2);
    const isInside = "document.documentElement.scrollWidth <= window.innerWidth";
    expect(await page.evaluate(isInside)).toBe(true);
  });
});

describe("the server of the approval page", () => {
  /** Sends a form as a browser does. */
  async function post(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers = SAME_ORIGIN,
  ) {
    const body = new URLSearchParams(fields);
    return (await fetch(url, { method: "POST", redirect: "manual", headers, body })).status;
  }

  const readPage = async (url: string) => await (await fetch(url)).text();

  async function readKey(url: string): Promise<string> {
    const [, key = ""] = /name="([^"]+)" value="approve"/.exec(await readPage(url)) ?? [];
    expect(key).not.toBe("");
    return key;
  }

  test("shows and decides nothing without the secret, from another page, or with GET", async () => {
    const release = await restart(await createFolder());
    const { url } = release;
    const key = await readKey(url);
    const fields = { [key]: "approve" };
    const wrong = new URL("/wrong", url).href;
    expect((await fetch(wrong)).status).toBe(404);
    expect(await post(wrong, fields)).toBe(404);
    await post(url, fields, { "sec-fetch-site": "cross-site" });
    await post(url, fields, { "sec-fetch-site": "same-site" });
    await post(url, fields, { "sec-fetch-site": "none" });
    await readPage(`${url}?${new URLSearchParams(fields)}`);
    expect(await post(url, { [key]: "park" })).toBe(500);
    await post(url, { other: "approve" });
    expect(await readKey(url)).toBe(key); // it still waits
    expect(release.deployed).toEqual([]);
  });

  test("runs the call once for several clicks", async () => {
    const release = await restart(await createFolder());
    const { url } = release;
    const key = await readKey(url);
    const click = async () => await post(url, { [key]: "approve" });
    expect(await Promise.all([click(), click(), click()])).toEqual([303, 303, 303]);
    expect(await post(url, { [key]: "deny" })).toBe(303);
    expect(await readPage(url)).toContain(`<main>${done}</main>`);
    expect(release.deployed).toEqual(["Deployed 2.0.1"]);
  });

  test("allows no scripts and no foreign frames, and does not pass on the secret", async () => {
    const { url } = await start(await createFolder());
    const { headers } = await fetch(url);
    expect(headers.get("content-security-policy")).toBe("default-src 'none'");
    expect(headers.get("x-frame-options")).toBe("SAMEORIGIN");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });
});

test("the example of the approval page has at most 60 lines", () => {
  expect(readFileSync(program, "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(60);
});

const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };
