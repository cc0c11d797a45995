import { serve } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  type LocalModel,
  LocalProvider,
  type ModelAction,
  type ModelScript,
  scriptedModel,
} from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { createChatApp } from "../examples/chat-page/chat-app.ts";
import { type Browser, startChromium } from "./support/chromium.ts";
import { chromiumPath } from "./support/chromium-path.ts";
import { hostSandbox } from "./support/host-sandbox.ts";

function createApp(model: LocalModel) {
  const provider = new LocalProvider({ model, sandbox: hostSandbox() });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const clientConfig = { apiKey: "local", fetch: provider.fetch };
  return createChatApp(new OpenAIAdapter({ model: "any", clientConfig }));
}

/** Serves the page with this model. The chat so far is sent when `isReady` resolves. Returns its URL. */
async function startServer(model: LocalModel, isReady?: Promise<void>): Promise<string> {
  const app = createApp(model);
  const fetch = async (request: Request) => {
    if (request.method === "GET" && request.url.endsWith("/chat")) await isReady;
    return await app.fetch(request);
  };
  const port = await new Promise<number>((resolve) => {
    const server = serve({ fetch, port: 0, hostname: "127.0.0.1" }, (info) => resolve(info.port));
    onTestFinished(() => {
      if ("closeAllConnections" in server) server.closeAllConnections();
      server.close();
    });
  });
  return `http://127.0.0.1:${port}`;
}

const answers = 'document.querySelectorAll("li.assistant")';
const lastAnswer = `${answers}[${answers}.length - 1]?.innerText`;
const isIdle = '!document.getElementById("send").hidden';

describe.skipIf(!chromiumPath)("the chat page in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium(chromiumPath ?? "");
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
  });

  async function open(script: ModelScript | LocalModel, isReady?: Promise<void>) {
    const model =
      typeof script === "object" && "respond" in script ? script : scriptedModel(script);
    const page = await browser.open(await startServer(model, isReady));
    await page.expectValue("document.activeElement.id", "text");
    return page;
  }

  test("shows text before the answer is complete", async () => {
    const page = await open([[{ say: "The beginning." }, { stall: 3_000 }, { say: "The end." }]]);
    await page.enter("Hello.");
    await page.expectValue(lastAnswer, "The beginning.");
    expect(await page.evaluate(isIdle)).toBe(false);
    await page.expectValue(lastAnswer, "The beginning.The end.");
    await page.expectValue(isIdle, true);
    await page.expectValue('document.querySelector("li.assistant").ariaBusy', "false");
  });

  test("shows a chat of two messages, also after it is loaded again", async () => {
    const page = await open(({ text, items }) => [{ say: `${items.length}: ${text}` }]);
    await page.enter("Hello.");
    await page.expectValue(`${lastAnswer}?.endsWith(": Hello.")`, true);
    await page.expectValue(isIdle, true);
    const first = await page.evaluate<string>(lastAnswer);
    await page.enter("And?");
    await page.expectValue(`${lastAnswer}?.endsWith(": And?")`, true);
    await page.expectValue(isIdle, true);
    const second = await page.evaluate<string>(lastAnswer);
    expect(Number.parseInt(second, 10)).toBeGreaterThan(Number.parseInt(first, 10));
    const shown = 'document.getElementById("messages").innerText';
    const whole = await page.evaluate(shown);
    await page.reload();
    await page.expectValue(shown, whole);
  });

  test("shows hosted calls while they run", async () => {
    const page = await open([[{ code: "print(6 * 7)" }], [{ say: "42" }]]);
    await page.enter("Compute.");
    await page.expectValue(isIdle, true);
    expect(await page.evaluate(lastAnswer)).toBe("Ran code\n42");
  });

  test("cancels the answer on the server with its button", async () => {
    const aborted = Promise.withResolvers<void>();
    const model: LocalModel = {
      async respond({ turn }, { signal } = {}): Promise<readonly ModelAction[]> {
        if (turn > 0) return [{ say: "Again." }];
        signal?.addEventListener("abort", () => aborted.resolve(), { once: true });
        return [{ say: "Working." }, { stall: 3_600_000 }];
      },
    };
    const page = await open(model);
    await page.enter("Hello.");
    await page.expectValue(lastAnswer, "Working.");
    await page.click("#stop");
    await aborted.promise;
    await page.expectValue(lastAnswer, "Working.\nStopped.");
    await page.expectValue(isIdle, true);
    await page.enter("Hello again.");
    await page.expectValue(lastAnswer, "Again.");
  });

  test("shows an error without its details", async () => {
    const fail = { status: 400, message: "The secret reason." };
    const page = await open([[{ fail }], [{ say: "Better." }]]);
    await page.enter("Hello.");
    await page.expectValue(
      'document.querySelector("[role=alert]")?.textContent.slice(0, 18)',
      "The answer failed.",
    );
    expect(await page.evaluate("document.body.innerText")).not.toContain("secret");
    await page.enter("Hello again.");
    await page.expectValue(lastAnswer, "Better.");
  });

  test("answers a message that is entered before the chat so far is loaded", async () => {
    const loaded = Promise.withResolvers<void>();
    const page = await open([[{ say: "Hi." }]], loaded.promise);
    await page.enter("Hello.");
    loaded.resolve();
    await page.expectValue(lastAnswer, "Hi.");
  });

  test("shows markup in an answer as text", async () => {
    const say = `<img src="x" onerror="document.title = 'Hacked'"><script>document.title = 'Hacked'</script>`;
    const page = await open([[{ say }]]);
    await page.enter("Hello.");
    await page.expectValue(lastAnswer, say);
    await page.expectValue(isIdle, true);
    expect(
      await page.evaluate('document.querySelectorAll("#messages :is(img, script)").length'),
    ).toBe(0);
    expect(await page.evaluate("document.title")).toBe("Chat");
  });

  test("runs no script that is not its own", async () => {
    const page = await open([]);
    const inject = `document.body.append(Object.assign(document.createElement("script"), { text: "document.title = 'Hacked'" }))`;
    await page.evaluate(inject);
    expect(await page.evaluate("document.title")).toBe("Chat");
  });
});

describe("the server of the chat page", () => {
  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

  test("answers only its own page", async () => {
    const app = createApp(scriptedModel([[{ say: "Hi." }]]));
    const headers = { "sec-fetch-site": "cross-site" };
    expect((await app.request("/chat", post({ text: "Hi." }, headers))).status).toBe(403);
    expect((await app.request("/chat", post({ text: "Hi." }))).status).toBe(200);
  });

  test("refuses empty, malformed and long messages", async () => {
    const app = createApp(scriptedModel([]));
    expect((await app.request("/chat", post({ text: " " }))).status).toBe(400);
    expect((await app.request("/chat", post({ text: 1 }))).status).toBe(400);
    expect((await app.request("/chat", post("{"))).status).toBe(400);
    expect((await app.request("/chat", post({ text: "a".repeat(70_000) }))).status).toBe(413);
  });

  test("writes one answer at a time in a chat", async () => {
    const app = createApp(scriptedModel([[{ say: "1" }, { stall: 60_000 }], [{ say: "2" }]]));
    const first = await app.request("/chat", post({ text: "1" }));
    const cookie = first.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await app.request("/chat", post({ text: "2" }, { cookie }))).status).toBe(409);
    expect((await app.request("/chat", post({ text: "2" }))).status).toBe(200);
    await first.body?.cancel();
  });

  test("sends a policy that allows only its own files", async () => {
    const { headers } = await createApp(scriptedModel([])).request("/");
    expect(headers.get("content-security-policy")).toContain(
      "default-src 'none'; script-src 'self'",
    );
  });
});
