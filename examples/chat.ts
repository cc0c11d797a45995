/** A chat whose messages arrive one by one, in any process, and are each sent to the model once. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePrompt, Session } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { historySlice, OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";

const assistant = definePrompt({
  name: "bakery:assistant",
  instructions: "You answer customers of a bakery, in one sentence.",
});

// A scripted model answers, and lists the roles of the messages that it received.
// With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
const answers = ["We close at six.", "Yes, rye is left.", "Then come before six."];
const provider = new LocalProvider({
  model: scriptedModel(({ items, turn }) => {
    const roles = items.map((item) => ("role" in item ? item.role : "?"));
    return [{ say: `${answers[turn]} [${roles.join(" ")}]` }];
  }),
});
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });

const directory = await mkdtemp(join(tmpdir(), "chat-"));
const store = new JsonlSessionStore(directory);

/** Answers one message of a chat. Every call could run in another process. */
async function reply(session: Session, input: string): Promise<string> {
  const { text } = await adapter.evaluate(assistant, { session, input, continue: true });
  await session.close(); // the message and its answer are stored now
  return text;
}

try {
  const first = new Session({ store, id: "chat-1" });
  console.log(await reply(first, "When do you close?"));
  for (const message of ["Do you have rye bread?", "I get off work at five."]) {
    const session = await Session.open(store, "chat-1", [historySlice]);
    console.log(await reply(session, message));
  }
} finally {
  await provider.close();
  await rm(directory, { recursive: true });
}
// prints: We close at six. [system user]
// prints: Yes, rye is left. [system user assistant user]
// prints: Then come before six. [system user assistant user assistant user]
