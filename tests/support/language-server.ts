import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { pathToFileURL } from "node:url";

/** Where a definition is. Lines and columns count from 0. */
export interface Definition {
  readonly uri: string;
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** TypeScript's language server, as editors run it. */
export class LanguageServer implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #received = Buffer.alloc(0);
  #requests = 0;

  private constructor(folder: string) {
    this.#process = spawn("tsc", ["--lsp", "--stdio"], {
      cwd: folder,
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#process.stdout?.on("data", (chunk: Buffer) => this.#receive(chunk));
  }

  static async start(folder: string): Promise<LanguageServer> {
    const server = new LanguageServer(folder);
    const rootUri = pathToFileURL(folder).href;
    await server.#request("initialize", { processId: process.pid, rootUri, capabilities: {} });
    server.#send({ method: "initialized", params: {} });
    return server;
  }

  /** Opens a file that has this text in the editor. */
  open(path: string, text: string): void {
    const uri = pathToFileURL(path).href;
    const textDocument = { uri, languageId: "typescript", version: 1, text };
    this.#send({ method: "textDocument/didOpen", params: { textDocument } });
  }

  /** What "go to definition" opens. */
  async findDefinitions(path: string, line: number, character: number) {
    const textDocument = { uri: pathToFileURL(path).href };
    const position = { line, character };
    const found = await this.#request("textDocument/definition", { textDocument, position });
    return (found ?? []) as readonly Definition[];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#process, "close");
    this.#process.kill();
    await closed;
  }

  async #request(method: string, params: object): Promise<unknown> {
    const id = ++this.#requests;
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#process.stdin?.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n");
      const [, size] = /Content-Length: (\d+)/.exec(`${this.#received.subarray(0, end)}`) ?? [];
      const next = end + 4 + Number(size);
      if (end < 0 || this.#received.length < next) return;
      const message = JSON.parse(`${this.#received.subarray(end + 4, next)}`) as Message;
      this.#received = this.#received.subarray(next);
      this.#answer(message);
    }
  }

  #answer({ id, method, ...rest }: Message): void {
    if (id === undefined) return;
    if (method === undefined) this.#waiting.get(id)?.(rest);
    else this.#send({ id, result: null }); // the server asks for settings
  }
}
