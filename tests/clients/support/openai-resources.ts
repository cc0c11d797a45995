import OpenAI, { toFile } from "openai";

/** Creates a vector store with one indexed file, `owls.md`. Returns the id of the store. */
export async function createOwlStore(baseURL: string): Promise<string> {
  const client = new OpenAI({ baseURL, apiKey: "local" });
  const store = await client.vectorStores.create({ name: "Birds" });
  const file = await toFile(Buffer.from("Owls hunt at night."), "owls.md");
  await client.vectorStores.files.uploadAndPoll(store.id, file, { pollIntervalMs: 20 });
  return store.id;
}

/** Creates a conversation in which the user said "Hi.". Returns its id. */
export async function createConversation(baseURL: string): Promise<string> {
  const client = new OpenAI({ baseURL, apiKey: "local" });
  const greeting = { type: "message", role: "user", content: "Hi." } as const;
  const { id } = await client.conversations.create({ items: [greeting] });
  return id;
}
