/** Keeps a page that uses the AI SDK's `useChat`, and runs its agent here. */
// needs: ai
import {
  createUIMessageStream,
  createUIMessageStreamResponse,
  DefaultChatTransport,
  readUIMessageStream,
  type UIMessage,
} from "ai";
import { definePrompt, Session } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const provider = new LocalProvider({
  model: scriptedModel([[{ say: "We close at six." }], [{ say: "Yes, until six." }]]),
});
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
const assistant = definePrompt({
  name: "bakery:assistant",
  instructions: "You answer customers of a bakery, in one sentence.",
});
const sessions = new Map<string, Session>(); // one per chat; use a store to keep them

/** The route that `useChat` calls, such as `app/api/chat/route.ts` in Next.js. */
async function POST(request: Request): Promise<Response> {
  const { id, messages } = (await request.json()) as { id: string; messages: UIMessage[] };
  const parts = messages.at(-1)?.parts ?? []; // the session has the earlier messages
  const input = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const session = sessions.get(id) ?? new Session();
  sessions.set(id, session);
  const { signal } = request;
  const answer = adapter.stream(assistant, { session, input, continue: true, signal });
  const stream = createUIMessageStream({
    execute: async ({ writer }) => {
      writer.write({ type: "text-start", id: "answer" });
      for await (const delta of answer.text()) {
        writer.write({ type: "text-delta", id: "answer", delta });
      }
      writer.write({ type: "text-end", id: "answer" });
    },
    onError: (error) => {
      console.error(error); // for your log: messages of errors can have internal details
      return "The assistant is not available.";
    },
  });
  return createUIMessageStreamResponse({ stream });
}

// The page: `useChat` sends its messages with this transport, and reads the answer as below.
const transport = new DefaultChatTransport({
  api: "http://localhost/api/chat",
  fetch: async (url, init) => POST(new Request(url, init)),
});
const messages: UIMessage[] = [];
try {
  for (const text of ["When do you close?", "Also on Mondays?"]) {
    messages.push({ id: `m${messages.length}`, role: "user", parts: [{ type: "text", text }] });
    const stream = await transport.sendMessages({
      trigger: "submit-message",
      chatId: "chat-1",
      messageId: undefined,
      messages,
      abortSignal: undefined,
    });
    let shown: UIMessage | undefined;
    for await (const message of readUIMessageStream({ stream })) shown = message;
    if (shown) messages.push(shown);
    console.log(shown?.parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
  }
} finally {
  await provider.close();
}
// prints: We close at six.
// prints: Yes, until six.
