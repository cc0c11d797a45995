import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished } from "vitest";
import { WebSocket } from "ws";

/** A page in a real browser. */
export interface BrowserPage {
  /** Returns the value of an expression in the page. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Waits until an expression in the page has a value. */
  expectValue(expression: string, value: unknown): Promise<void>;
  /** Types a text into the element that has the focus, and presses Enter. */
  enter(text: string): Promise<void>;
  /** Clicks the middle of an element. */
  click(selector: string): Promise<void>;
  /** Loads the page again. */
  reload(): Promise<void>;
  /** Sends a DevTools command. */
  send(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>;
}

/** A browser without windows. */
export interface Browser extends AsyncDisposable {
  /** Opens a page with its own cookies. It is closed when the test ends. */
  open(url: string): Promise<BrowserPage>;
}

/** Starts Chromium with a separate profile and controls it with the DevTools protocol. */
export async function startChromium(path: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), "wink-chromium-"));
  const flags = ["--headless=new", "--remote-debugging-port=0", `--user-data-dir=${profile}`];
  const isolated = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"];
  const child = spawn(path, [...flags, ...isolated, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const socket = new WebSocket(await readDevToolsUrl(child.stderr));
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const send = createSender(socket);
  return {
    async open(url) {
      const { browserContextId } = await send("Target.createBrowserContext");
      const { targetId } = await send("Target.createTarget", { url, browserContextId });
      const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
      onTestFinished(async () => {
        await send("Target.disposeBrowserContext", { browserContextId });
      });
      const page = createPage((method, params) => send(method, params, String(sessionId)));
      await page.send("Emulation.setFocusEmulationEnabled", { enabled: true });
      return page;
    },
    async [Symbol.asyncDispose]() {
      socket.terminate();
      child.kill("SIGKILL");
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

async function readDevToolsUrl(stderr: NodeJS.ReadableStream): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: stderr })) {
    const [url] = /ws:\S+/.exec(line) ?? [];
    stderr.resume(); // later lines must not fill the pipe
    if (url) return url;
    lines.push(line);
  }
  throw new Error(`Chromium ended: ${lines.join("\n")}`);
}

type Send = (
  method: string,
  params?: object,
  sessionId?: string,
) => Promise<Readonly<Record<string, unknown>>>;

function createSender(socket: WebSocket): Send {
  const waiting = new Map<number, PromiseWithResolvers<Readonly<Record<string, unknown>>>>();
  let last = 0;
  socket.on("message", (data) => {
    const { id, result, error } = JSON.parse(String(data));
    const answer = waiting.get(id);
    waiting.delete(id);
    if (error) answer?.reject(new Error(error.message));
    else answer?.resolve(result);
  });
  return (method, params = {}, sessionId) => {
    const id = ++last;
    const answer = Promise.withResolvers<Readonly<Record<string, unknown>>>();
    waiting.set(id, answer);
    socket.send(JSON.stringify({ id, method, params, sessionId }));
    return answer.promise;
  };
}

function createPage(send: BrowserPage["send"]): BrowserPage {
  const evaluate: BrowserPage["evaluate"] = async (expression) => {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await send("Runtime.evaluate", options);
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return Object(result).value;
  };
  const press = (type: string, key: string, text?: string) =>
    send("Input.dispatchKeyEvent", { type, key, code: key, windowsVirtualKeyCode: 13, text });
  return {
    send,
    evaluate,
    async expectValue(expression, value) {
      await expect.poll(() => evaluate(expression)).toEqual(value);
    },
    async enter(text) {
      await send("Input.insertText", { text });
      await press("keyDown", "Enter", "\r");
      await press("keyUp", "Enter");
    },
    async click(selector) {
      const box = `(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect())`;
      const [x, y] = await evaluate<readonly [number, number]>(box);
      const mouse = { x, y, button: "left", clickCount: 1 };
      await send("Input.dispatchMouseEvent", { type: "mousePressed", ...mouse });
      await send("Input.dispatchMouseEvent", { type: "mouseReleased", ...mouse });
    },
    async reload() {
      await evaluate("window.isOld = true");
      await send("Page.reload");
      await expect
        .poll(() => evaluate("window.isOld === undefined && document.readyState").catch(() => null))
        .toBe("complete");
    },
  };
}
