import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import { CassetteError } from "./cassette-error.ts";
import { Player } from "./player.ts";
import { Recorder } from "./recorder.ts";
import { Scrubber } from "./scrubber.ts";
import { createUndiciSender } from "./undici-sender.ts";

/** Options of {@link cassette}. */
export interface CassetteOptions {
  /**
   * `"replay"` answers from the file and never uses the network. `"record"` sends the requests and replaces the file.
   * `"auto"` replays if the file exists, and records otherwise. @default "replay"
   */
  readonly mode?: "replay" | "record" | "auto" | undefined;
  /** Sends the requests that are recorded. @default undici's `fetch`, without time limits */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Removes further secrets, such as names of customers: each text of requests and responses is passed through it before it is
   * stored or compared. It must return its own results unchanged. @default removes nothing more
   */
  readonly scrub?: ((text: string) => string) | undefined;
}

/** A recorded run. See {@link cassette}. */
export interface Cassette extends AsyncDisposable {
  /** Pass it as `clientConfig.fetch` of an `OpenAIAdapter`, or to any other client. */
  readonly fetch: typeof globalThis.fetch;
  /** Whether requests are answered from the file or recorded. */
  readonly mode: "replay" | "record";
  /**
   * When recording, writes the file. When replaying, throws `CassetteError` if a request differed from the recording, even
   * if the code under test caught the error, or if a recorded request was not sent. `await using` does the same, but does not
   * repeat an error that `fetch` has thrown.
   */
  close(): Promise<void>;
}

const cassetteKeys: KnownKeys<CassetteOptions> = { fetch: true, mode: true, scrub: true };
const refuse = InvalidOptionError.at("cassette(options)");

/**
 * Records the requests and responses of a run in a file, streams and files included and secrets removed, and replays them
 * without a network. A replayed request must equal the recorded one; otherwise `fetch` rejects with a `CassetteError`
 * that shows the first difference. Requests may be sent in any order.
 *
 * @example
 * ```ts
 * import { definePrompt } from "weakincentives";
 * import { OpenAIAdapter } from "weakincentives/openai";
 * import { cassette } from "weakincentives/testing";
 *
 * const baker = definePrompt({ name: "baker", instructions: "Plan tonight's baking." });
 * const tape = cassette("baker.cassette.jsonl", { mode: "auto" });
 * const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig: { fetch: tape.fetch } });
 * const { text } = await adapter.evaluate(baker);
 * await tape.close();
 * ```
 */
export function cassette(path: string | URL, options: CassetteOptions = {}): Cassette {
  checkKnownKeys(options, "cassette(options)", cassetteKeys);
  const { mode = "replay", fetch, scrub } = options;
  const file = resolvePath(path);
  checkCassetteOptions({ mode, fetch, scrub });
  const scrubber = new Scrubber(scrub);
  const chosen = mode === "auto" ? (existsSync(file) ? "replay" : "record") : mode;
  const undici = createUndiciSender();
  const deck =
    chosen === "replay"
      ? new Player(file, scrubber)
      : new Recorder(file, fetch ?? undici.fetch, scrubber);
  let hasThrown = false;
  const close = async () => {
    try {
      await deck.close();
    } finally {
      await undici.close();
    }
  };
  return Object.freeze({
    mode: chosen,
    close,
    fetch: async (...request: Parameters<typeof globalThis.fetch>) => {
      if (isLocal(request[0])) return await globalThis.fetch(...request);
      try {
        return await deck.fetch(...request);
      } catch (error) {
        hasThrown ||= error instanceof CassetteError;
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      await close().catch((error: unknown) => {
        if (!hasThrown) throw error;
      });
    },
  });
}

/** Whether a URL contains its content. OpenAI's client fetches one to learn what `fetch` can do. */
function isLocal(input: string | URL | Request): boolean {
  return /^(?:blob|data):/i.test(input instanceof Request ? input.url : String(input));
}

function resolvePath(path: unknown): string {
  if (path instanceof URL && path.protocol === "file:") return fileURLToPath(path);
  if (typeof path === "string" && path !== "" && !path.includes("\0")) return path;
  throw new InvalidOptionError({
    field: "cassette(path)",
    value: path,
    rule: "must be the path or file: URL of a file",
    remedy: 'use a path such as "tests/run.cassette.jsonl"',
  });
}

function checkCassetteOptions({ mode, fetch, scrub }: CassetteOptions): void {
  if (mode !== "replay" && mode !== "record" && mode !== "auto") {
    const rule = 'must be "replay", "record" or "auto"';
    throw refuse("mode", mode, rule, 'omit it for "replay"');
  }
  if (fetch !== undefined && typeof fetch !== "function") {
    throw refuse("fetch", fetch, "must be a function", "pass a function like the global fetch");
  }
  if (scrub !== undefined && typeof scrub !== "function") {
    throw refuse("scrub", scrub, "must be a function", "pass a function from text to text");
  }
}
