import { ConversationStore } from "../../../src/local/conversations/conversation-store.ts";
import { randomIds } from "../../../src/local/ids.ts";
import { Conversations } from "../../../src/local/responses/conversation/conversations.ts";
import { NamedConversations } from "../../../src/local/responses/conversation/named-conversations.ts";
import { Threads } from "../../../src/local/responses/conversation/threads.ts";
import { openDatabase } from "../../../src/local/store/database.ts";
import { ResponseStore } from "../../../src/local/store/response-store.ts";
import { builtInCatalog } from "../../../src/local/tools/index.ts";
import { type Sealer, sealer as sealerOf } from "../../../src/local/turn/sealer.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { createTemporaryDataDir } from "../local-storage.ts";

export const ids = randomIds();
export const catalog = builtInCatalog;
/** Creates a user message. */
export const createUserMessage = (content: string): WireItem => ({
  type: "message",
  role: "user",
  content,
});
/** Creates an assistant message. */
export const createAnswer = (text: string): WireItem => ({
  id: ids.next("msg_"),
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
/** Creates a call of the code interpreter. */
export const createCodeCall = (container_id: string): WireItem => ({
  id: ids.next("ci_"),
  type: "code_interpreter_call",
  container_id,
});

/** Creates conversations over a database, with helpers that run turns. */
export function openConversations() {
  const folder = createTemporaryDataDir();
  const database = openDatabase(folder.path);
  const real = sealerOf(new Uint8Array(32).fill(7));
  const counted = { opened: 0 };
  const sealer: Sealer = {
    seal: (content) => real.seal(content),
    open(text) {
      counted.opened += 1;
      return real.open(text);
    },
  };
  const openStored = (by: Sealer) => {
    const store = new ResponseStore(database);
    const { lines } = store;
    const threads = new Threads({ sealer: by, catalog });
    const named = new NamedConversations({
      store: new ConversationStore(database, lines),
      ...{ lines, threads, ids, seconds: () => 1 },
    });
    return { store, named, conversations: new Conversations({ store, named, threads, catalog }) };
  };
  const { store, named, conversations } = openStored(sealer);
  const createReasoning = (text: string): WireItem => ({
    id: ids.next("rs_"),
    type: "reasoning",
    summary: [],
    encrypted_content: real.seal({ text }),
  });
  /** Returns conversations with an empty cache, as after a restart. */
  const createUncached = (by: Sealer = real) => openStored(by).conversations;
  /** Stores one turn and returns the id of its response. */
  const storeTurn = (
    previous: string | null,
    input: readonly WireItem[],
    output: readonly WireItem[],
  ): string => {
    const conversation = conversations.createConversation({ previousResponseId: previous, input });
    const response = { id: ids.next("resp_"), created_at: 1, status: "completed", output };
    conversations.store({ response, output, include: new Set(), conversation });
    return response.id;
  };
  const continueFrom = (
    previous: string,
    input: readonly WireItem[] = [createUserMessage("Next.")],
  ) => conversations.createConversation({ previousResponseId: previous, input });
  return {
    ...{
      store,
      named,
      conversations,
      sealer,
      counted,
      thought: createReasoning,
      afresh: createUncached,
      turn: storeTurn,
      goOn: continueFrom,
    },
    [Symbol.dispose]() {
      database[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}
