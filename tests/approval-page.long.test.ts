import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "@hono/node-server";
import type { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readWaiting } from "../examples/approval-page/agent.ts";
import { createApprovalApp } from "../examples/approval-page/approval-app.ts";
import { type Browser, startChromium } from "./support/chromium.ts";
import { chromiumPath } from "./support/chromium-path.ts";

const main = fileURLToPath(new URL("../examples/approval-page/main.ts", import.meta.url));
const useSources = new URL("support/agents/use-sources.ts", import.meta.url).href;

/** Runs the process that parks a call and is killed. Its task becomes a param of the call. Returns its folder. */
async function parkInKilledProcess(task = "Deploy it."): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wink-approval-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "task.txt"), task);
  const child = spawn(process.execPath, ["--import", useSources, main, "ask", folder], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [, signal] = await once(child, "exit");
  expect([signal, readDeployed(folder)]).toEqual(["SIGKILL", ""]);
  return folder;
}

function readDeployed(folder: string): string {
  const path = join(folder, "deployed.txt");
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

async function startServer({ app, path }: { readonly app: Hono; readonly path: string }) {
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
  onTestFinished(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return `http://127.0.0.1:${Object(server.address()).port}${path}`;
}

const answer = 'document.getElementById("answer")?.innerText ?? null';
const params = 'document.querySelector("pre")?.innerText ?? null';

describe.skipIf(!chromiumPath)("the approval page in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium(chromiumPath ?? "");
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
  });

  test("shows a call that a killed process left behind, and runs it once after the click on Approve", async () => {
    const folder = await parkInKilledProcess();
    const page = await browser.open(await startServer(createApprovalApp(folder)));
    await page.expectValue('document.querySelector("h2")?.innerText ?? null', "deploy");
    const text = await page.evaluate<string>(params);
    expect(JSON.parse(text)).toEqual({ version: "2.0.1", note: "Deploy it." });
    expect(readDeployed(folder)).toBe("");
    await page.click("button[value=approve]");
    await page.expectValue(answer, "I read: Deployed 2.0.1.");
    await page.reload();
    await page.expectValue(answer, "I read: Deployed 2.0.1.");
    expect(readDeployed(folder)).toBe("2.0.1\n");
  });

  test("tells the model after the click on Deny, and another server shows its answer too", async () => {
    const folder = await parkInKilledProcess();
    const page = await browser.open(await startServer(createApprovalApp(folder)));
    await page.expectValue('document.querySelectorAll("button").length', 2);
    await page.click("button[value=deny]");
    const denied = "I read: The call was not made: it was denied.";
    await page.expectValue(`(${answer})?.slice(0, ${denied.length})`, denied);
    expect(readDeployed(folder)).toBe("");
    const other = await browser.open(await startServer(createApprovalApp(folder)));
    await other.expectValue(`(${answer})?.slice(0, ${denied.length})`, denied);
  });

  test("is used with the keyboard", async () => {
    const folder = await parkInKilledProcess();
    const page = await browser.open(await startServer(createApprovalApp(folder)));
    await page.expectValue('document.querySelectorAll("button").length', 2);
    const press = async (type: string, key: string, code: number, text?: string) =>
      await page.send("Input.dispatchKeyEvent", {
        type,
        ...{ key, code: key, text, windowsVirtualKeyCode: code },
      });
    for (const _ of ["the params", "Approve"]) await press("rawKeyDown", "Tab", 9);
    await page.expectValue("document.activeElement.value", "approve");
    await press("keyDown", "Enter", 13, "\r");
    await page.expectValue(answer, "I read: Deployed 2.0.1.");
  });

  test("shows markup and invisible characters of a model as text, and runs no script", async () => {
    const markup = `</pre><img src="x" onerror="document.title = 'Hacked'"><script>document.title = 'Hacked'</script>`;
    const folder = await parkInKilledProcess(`${markup}\u202e\u200b`);
    const page = await browser.open(await startServer(createApprovalApp(folder)));
    await page.expectValue('document.querySelectorAll("button").length', 2);
    const text = await page.evaluate<string>(params);
    expect(text).toContain(JSON.stringify(markup).slice(1, -1));
    expect(text).toContain("\\u{202e}\\u{200b}");
    expect(await page.evaluate('document.querySelectorAll("img, script").length')).toBe(0);
    const inject = `document.body.append(Object.assign(document.createElement("script"), { text: "document.title = 'Hacked'" }))`;
    await page.evaluate(inject);
    expect(await page.evaluate("document.title")).toBe("Approvals");
    await page.click("button[value=approve]");
    await page.expectValue(answer, "I read: Deployed 2.0.1.");
  });
});

describe("the server of the approval page", () => {
  const post = (fields: Readonly<Record<string, string>>, headers = SAME_ORIGIN) => ({
    method: "POST",
    headers,
    body: new URLSearchParams(fields),
  });

  test("shows and decides nothing without the secret, from another page, or with GET", async () => {
    const folder = await parkInKilledProcess();
    const { app, path } = createApprovalApp(folder);
    const [{ key } = { key: "" }] = readWaiting(folder);
    const fields = { key, decision: "approve" };
    expect((await app.request("/wrong")).status).toBe(404);
    expect((await app.request("/wrong", post(fields))).status).toBe(403);
    const headers = { "sec-fetch-site": "cross-site" };
    expect((await app.request(path, post(fields, headers))).status).toBe(403);
    expect((await app.request(`${path}?${new URLSearchParams(fields)}`)).status).toBe(200);
    expect((await app.request(path, post({ key, decision: "park" }))).status).toBe(400);
    expect((await app.request(path, post({ ...fields, key: "other" }))).status).toBe(409);
    expect(readDeployed(folder)).toBe("");
  });

  test("runs the call once for two clicks", async () => {
    const folder = await parkInKilledProcess();
    const { app, path } = createApprovalApp(folder);
    const [{ key } = { key: "" }] = readWaiting(folder);
    const click = async () => (await app.request(path, post({ key, decision: "approve" }))).status;
    expect((await Promise.all([click(), click()])).sort()).toEqual([303, 409]);
    expect(await click()).toBe(409);
    expect(readDeployed(folder)).toBe("2.0.1\n");
  });

  test("allows no scripts and no frames", async () => {
    const folder = await parkInKilledProcess();
    const { app, path } = createApprovalApp(folder);
    const policy = (await app.request(path)).headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'; style-src 'self'; form-action 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("script-src");
  });
});

const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };
