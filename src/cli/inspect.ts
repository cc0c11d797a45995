import { spawn } from "node:child_process";
import { styleText } from "node:util";
import { openSource } from "../inspect/sources/open-source.ts";
import { type RunningInspector, startInspector } from "../inspect/start-inspector.ts";
import { endOnSignal, type Stoppable } from "./end-on-signal.ts";

/** Options of `wink inspect`. */
export interface InspectOptions {
  /** A session id, the path of a file or a folder, or a PostgreSQL URL. @default everything in `store` */
  readonly target?: string | undefined;
  readonly store?: string | undefined;
  /** The folder in which a workspace keeps its files. */
  readonly files?: string | undefined;
  /** Schema of a PostgreSQL database's tables. */
  readonly schema?: string | undefined;
  readonly port: number;
  readonly json: boolean;
  /** Whether to open a browser. @default if the output is a terminal */
  readonly open?: boolean | undefined;
}

/** The parts of the process that `inspect` uses. Tests pass their own. */
export interface InspectHost extends Stoppable {
  readonly stdout: { readonly isTTY?: boolean | undefined };
}

/** Serves a page that shows sessions, prints its URL, and runs until a signal ends the process. */
export async function inspect(
  { port, json, open, ...request }: InspectOptions,
  host: InspectHost = process,
  openPage: (url: string) => void = openBrowser,
): Promise<void> {
  let running: RunningInspector | null = null;
  const stopServing = async () => await running?.[Symbol.asyncDispose]();
  const signals = endOnSignal(stopServing, { code: 0, host });
  try {
    const source = await openSource(request);
    const { sessions, omitted } = await source.list();
    running = await startInspector(source, { port }).catch(async (error: unknown) => {
      await source[Symbol.asyncDispose]();
      throw error;
    });
    const { url } = running;
    const isTerminal = host.stdout.isTTY === true;
    if (json) console.log(JSON.stringify({ url, sessions: sessions.map(({ id }) => id) }));
    else if (isTerminal) printIntro(url, sessions.length + omitted, source.label);
    else console.log(url);
    if (open ?? (isTerminal && !json)) openPage(url);
  } catch (error) {
    signals[Symbol.dispose]();
    await stopServing();
    throw error;
  }
}

function printIntro(url: string, count: number, label: string): void {
  const what = count === 1 ? "One session" : `${count} sessions`;
  console.log(`${styleText("bold", `${what} of ${label}:`)} ${url}\n`);
  console.log("Only this machine can open the page, and only with this URL. Press Ctrl-C to stop.");
}

/** Opens the page in the user's browser. The URL is printed, so failures do not matter. */
export function openBrowser(url: string, platform: NodeJS.Platform = process.platform): void {
  const [command, ...args] = BROWSERS[platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}

const BROWSERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
