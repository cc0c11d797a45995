import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";

/** Sends a command of the DevTools protocol, to the browser or to the page of a session. */
export type SendCommand = (
  method: string,
  params?: object,
  sessionId?: string,
) => Promise<Record<string, unknown>>;

/** Chromium without windows, controlled with the DevTools protocol. */
export interface Chromium extends AsyncDisposable {
  readonly send: SendCommand;
}

/** Starts Chromium with a separate profile. */
export async function startChromium(path: string): Promise<Chromium> {
  const profile = await mkdtemp(join(tmpdir(), "wink-chromium-"));
  const flags = ["--headless=new", "--remote-debugging-port=0", `--user-data-dir=${profile}`];
  const isolated = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
  ];
  const child = spawn(path, [...flags, ...isolated, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  const socket = new WebSocket(await readDevToolsUrl(child.stderr));
  await once(socket, "open");
  return {
    send: createSender(socket),
    async [Symbol.asyncDispose]() {
      socket.terminate();
      child.kill("SIGKILL");
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

async function readDevToolsUrl(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const [url] = /ws:\S+/.exec(line) ?? [];
    stderr.resume(); // later lines must not fill the pipe
    if (url) return url;
  }
  throw new Error("Chromium ended before it was ready.");
}

function createSender(socket: WebSocket): SendCommand {
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
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
    const answer = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(id, answer);
    socket.send(JSON.stringify({ id, method, params, sessionId }));
    return answer.promise;
  };
}
