import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { JSONRPCMessage, ReadBuffer, Transport } from "@modelcontextprotocol/client";
import { findBuiltinModule } from "../base/call-fence.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { getErrorMessage, WinkError } from "../base/errors.ts";
import { listSafeVariables } from "./list-safe-variables.ts";
import type { McpClientModule } from "./load-mcp-client.ts";
import { MCP_LIMITS } from "./mcp-limits.ts";
import type { McpStdioServer } from "./mcp-server.ts";

/** The parts of the runtime that {@link StdioTransport} uses. */
export interface StdioRuntime {
  readonly clock: Clock;
  /** Looks up a built-in module without importing it. */
  readonly find: typeof findBuiltinModule;
  /** On `"win32"` there are no process groups, and only the process itself is ended. */
  readonly platform: NodeJS.Platform;
}

/**
 * Runs a server as a child process in its own process group, without a shell. Unlike the transport of the MCP
 * client, it ends the whole group, and keeps the end of the error output instead of printing it.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #server: McpStdioServer;
  readonly #runtime: StdioRuntime;
  readonly #serialize: McpClientModule["serializeMessage"];
  readonly #buffer: ReadBuffer;
  readonly #exited = Promise.withResolvers<void>();
  #child: ChildProcessWithoutNullStreams | null = null;
  #stderr = "";
  #end: string | null = null;

  constructor(
    server: McpStdioServer,
    client: McpClientModule,
    runtime: Partial<StdioRuntime> = {},
  ) {
    this.#server = server;
    const platform = globalThis.process?.platform; // some runtimes have no process
    this.#runtime = { clock: systemClock, find: findBuiltinModule, platform, ...runtime };
    this.#serialize = client.serializeMessage;
    this.#buffer = new client.ReadBuffer({ maxBufferSize: MCP_LIMITS.messageBytes });
  }

  /** How the process ended and the end of its error output; `""` if there is neither. */
  describeEnd(): string {
    const output = this.#stderr.trim();
    return [this.#end, output === "" ? null : `Its error output ends with: ${output}`]
      .filter((part) => part !== null)
      .join(" ");
  }

  async start(): Promise<void> {
    const child = this.#spawn();
    this.#child = child;
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    const decoder = new TextDecoder();
    child.stderr.on("data", (chunk: Buffer) => {
      const text = this.#stderr + decoder.decode(chunk, { stream: true });
      this.#stderr = text.slice(-MCP_LIMITS.stderrChars);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      stream.on("error", (error: Error) => this.onerror?.(error));
    }
    child.once("exit", (code, signal) => {
      this.#end ??= signal === null ? `It exited with code ${code}.` : `It was ended by ${signal}.`;
      this.#signalGroup("SIGKILL"); // helpers that would hold the pipes open
      this.#exited.resolve();
    });
    child.once("close", () => this.onclose?.());
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => {
        this.#exited.resolve();
        reject(error);
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new WinkError(`The server is not running. ${this.describeEnd()}`);
    if (stdin.write(this.#serialize(message))) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        stdin.off("drain", settle);
        stdin.off("close", settle);
        resolve();
      };
      stdin.on("drain", settle);
      stdin.on("close", settle);
    });
  }

  /** Ends the process: closes its input, then sends SIGTERM, then SIGKILL, a second apart. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    child.stdin.end();
    if (!(await this.#exitsInTime())) {
      this.#signalGroup("SIGTERM");
      await this.#exitsInTime();
    }
    this.#signalGroup("SIGKILL");
    await this.#exited.promise;
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    this.#buffer.clear();
  }

  #spawn(): ChildProcessWithoutNullStreams {
    // Looked up instead of imported, so that servers with a URL also work where Node's modules are missing.
    const node = this.#runtime.find("node:child_process") as
      | Pick<typeof import("node:child_process"), "spawn">
      | undefined;
    if (!node) {
      throw new WinkError(
        "A server with a command needs Node. Use a server with a url on this runtime.",
      );
    }
    const { command, args = [], env, cwd } = this.#server;
    return node.spawn(command, [...args], {
      env: { ...listSafeVariables(process.env, this.#runtime.platform), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: !this.#isWindows, // leads a process group
      windowsHide: true,
      ...(cwd === undefined ? {} : { cwd }),
    });
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      this.onerror?.(createReadError(error));
      this.#end = `It sent a message of more than ${MCP_LIMITS.messageBytes} bytes.`;
      this.#signalGroup("SIGKILL");
      return;
    }
    for (let isDone = false; !isDone; ) {
      try {
        const message = this.#buffer.readMessage();
        isDone = message === null;
        if (message !== null) this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(createReadError(error));
      }
    }
  }

  async #exitsInTime(): Promise<boolean> {
    const stopped = new AbortController();
    const exited = this.#exited.promise.then(() => true);
    const waited = this.#runtime.clock.sleep(GRACE_MS, stopped.signal).then(
      () => false,
      () => true,
    );
    const isExited = await Promise.race([exited, waited]);
    stopped.abort();
    return isExited;
  }

  get #isWindows(): boolean {
    return this.#runtime.platform === "win32";
  }

  #signalGroup(signal: "SIGTERM" | "SIGKILL"): void {
    const child = this.#child;
    if (child?.pid === undefined) return;
    try {
      if (this.#isWindows) child.kill(signal);
      else process.kill(-child.pid, signal);
    } catch {
      // The group has ended.
    }
  }
}

/** How long a server may take to exit before it is sent the next signal. */
const GRACE_MS = 1_000;

function createReadError(cause: unknown): WinkError {
  return new WinkError(`A message of the server is invalid: ${getErrorMessage(cause)}`, { cause });
}
