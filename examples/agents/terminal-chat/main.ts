/** A chat in the terminal: answers stream in, Ctrl-C stops an answer, and the conversation survives the program. */
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import {
  Budget,
  BudgetTracker,
  Deadline,
  definePrompt,
  InvalidOptionError,
  Session,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { historySlice, OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";

const USAGE = `Usage: node main.ts [--live] [--session NAME] [--store FOLDER]
With --live, OpenAI answers: set OPENAI_API_KEY. Without, a scripted model does.
In the chat: /usage shows the tokens of this run, /exit leaves, Ctrl-C stops an answer.`;

const assistant = definePrompt({
  name: "terminal:chat",
  instructions: "You answer questions in a terminal: briefly, in plain text without Markdown.",
});
const script = scriptedModel(({ text, items }) => {
  const isKnown = JSON.stringify(items).includes("Mondays");
  if (text.startsWith("When")) return [{ say: isKnown ? "On Mondays." : "You did not say." }];
  return [{ say: `I will remember: ${text}`, everyMs: 20 }];
});

const { live, name, folder } = readArguments();
const provider = new LocalProvider({ model: script });
const clientConfig = live ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 200_000 })); // of this run
let stopAnswer: (() => void) | null = null;
const isDemo = !live && !process.stdin.isTTY;
const directory = isDemo ? await mkdtemp(join(tmpdir(), "terminal-chat-")) : folder;
try {
  if (isDemo) {
    await chat(playLines(["I bake on Mondays.", "/usage", "/exit"]));
    await chat(playLines(["When do I bake?", "/exit"])); // the same session, opened again
  } else await chat(readLines());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await provider.close();
  if (isDemo) await rm(directory, { recursive: true });
}

/** Answers lines until `/exit` or the end of the input. */
async function chat(lines: AsyncIterable<string>): Promise<void> {
  const store = new JsonlSessionStore(directory);
  const isStored = (await store.list()).includes(name);
  const session = isStored
    ? await Session.open(store, name, [historySlice])
    : new Session({ store, id: name });
  if (isStored) console.log(`Continuing "${name}".`);
  try {
    for await (const line of lines) {
      if (line.trim() === "/exit") break;
      if (line.trim() === "/usage") console.log(describeUsage());
      else if (line.trim() !== "") await answer(session, line);
    }
  } finally {
    await session.flush();
    await store.close(); // releases the lock on the session
  }
}

/** Writes one answer as it arrives. A failure is shown, and the chat continues. */
async function answer(session: Session, input: string): Promise<void> {
  const turn = new AbortController();
  stopAnswer = () => turn.abort();
  try {
    const stream = adapter.stream(assistant, {
      session,
      input,
      continue: true,
      budgetTracker: tracker,
      deadline: Deadline.after(5 * 60_000),
      signal: turn.signal,
    });
    for await (const event of stream) {
      if (event.type === "text") process.stdout.write(event.delta);
      if (event.type === "restart") process.stdout.write("\n[The connection broke. Again:]\n");
    }
    process.stdout.write("\n");
    await session.flush();
  } catch (error) {
    if (!turn.signal.aborted && isMistake(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    console.log(turn.signal.aborted ? "\n[Stopped. The model will not see this message.]" : reason);
  } finally {
    stopAnswer = null;
  }
}

/** Whether every further message would fail too, for example because there is no key. */
function isMistake(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof InvalidOptionError;
}

async function* readLines(): AsyncGenerator<string> {
  const { stdin, stdout } = process;
  const terminal = createInterface({ input: stdin, ...(stdin.isTTY && { output: stdout }) });
  const onInterrupt = () => (stopAnswer ? stopAnswer() : terminal.close());
  terminal.on("SIGINT", onInterrupt);
  process.on("SIGINT", onInterrupt);
  let isOpen = true;
  terminal.once("close", () => {
    isOpen = false;
  });
  try {
    terminal.prompt();
    for await (const line of terminal) {
      yield line;
      if (isOpen) terminal.prompt();
    }
  } finally {
    terminal.close();
    process.off("SIGINT", onInterrupt);
  }
}

async function* playLines(lines: readonly string[]): AsyncGenerator<string> {
  for (const line of lines) {
    console.log(`> ${line}`);
    yield line;
  }
}

function describeUsage(): string {
  const { inputTokens, outputTokens, cachedTokens } = tracker.total;
  return `${inputTokens} tokens in (${cachedTokens} from the cache), ${outputTokens} out`;
}

function readArguments() {
  const options = {
    live: { type: "boolean", default: false },
    session: { type: "string", default: "default" },
    store: { type: "string", default: join(homedir(), ".terminal-chat") },
  } as const;
  try {
    const { live, session: name, store: folder } = parseArgs({ options }).values;
    if (!/^[\w.:-]{1,128}$/.test(name)) throw new Error("--session takes letters, digits, _.:-");
    return { live, name, folder };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}
// prints: > I bake on Mondays.
// prints: I will remember: I bake on Mondays.
// prints: > /usage
// prints: 67 tokens in (0 from the cache), 58 out
// prints: > /exit
// prints: Continuing "default".
// prints: > When do I bake?
// prints: On Mondays.
// prints: > /exit
