/** Background responses, conversations, uploads, WebSockets and chat completions with OpenAI's official client. */
// needs: openai
// needs: ws
import OpenAI, { toFile } from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { LocalProvider, scriptedModel } from "weakincentives/local";

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const isLive = process.argv.includes("--live");
const model = "gpt-5.2";
const python = { type: "code_interpreter", container: { type: "auto" } } as const;
const provider = new LocalProvider({
  model: scriptedModel([
    [{ code: "print(sum(range(101)))" }, { say: "The sum is 5050." }],
    [{ say: "Rye." }],
    [{ say: "You asked which flour to buy." }],
    [{ say: "Over a socket." }],
    [{ say: "Over chat completions." }],
  ]),
});
try {
  const { url } = await provider.listen();
  const client = isLive ? new OpenAI() : new OpenAI({ baseURL: url, apiKey: "local" });

  // A response that runs without its connection. Poll it, cancel it, or follow its events.
  const { id } = await client.responses.create({
    model,
    input: "Add the numbers from 1 to 100.",
    tools: [python],
    background: true,
  });
  for await (const event of await client.responses.retrieve(id, { stream: true }))
    if (event.type === "response.completed") console.log(event.response.output.at(-1)?.type);
  console.log((await client.responses.retrieve(id)).output_text);

  // A conversation at the provider: each response reads it and adds its input and output.
  const { id: conversation } = await client.conversations.create({});
  await client.responses.create({ model, input: "Which flour?", conversation });
  await client.responses.create({ model, input: "What did I ask?", conversation });
  const { data } = await client.conversations.items.list(conversation);
  console.log(`${data.length} items in the conversation`);

  // A file in two parts.
  const bytes = Buffer.from("day,loaves\nMon,12\n");
  const upload = await client.uploads.create({
    filename: "sales.csv",
    purpose: "user_data",
    mime_type: "text/csv",
    bytes: bytes.length,
  });
  const parts = [bytes.subarray(0, 11), bytes.subarray(11)].map(async (part) =>
    client.uploads.parts.create(upload.id, { data: await toFile(part, "part") }),
  );
  const part_ids = (await Promise.all(parts)).map((part) => part.id);
  const { file } = await client.uploads.complete(upload.id, { part_ids });
  console.log(`${file?.filename}: ${file?.bytes} bytes`);

  // The same events as messages of a WebSocket.
  const socket = new ResponsesWS(client);
  const ended = new Promise<string>((resolve) => {
    socket.on("response.completed", (event) => resolve(event.response.output[0]?.type ?? ""));
  });
  socket.send({ type: "response.create", model, input: "Hello.", store: false });
  console.log(await ended);
  socket.close();

  // For clients that do not support the Responses API.
  const completion = await client.chat.completions.create({
    model,
    messages: [{ role: "user", content: "Hello." }],
  });
  console.log(completion.choices[0]?.message.content);
} finally {
  await provider.close();
}
// prints: message
// prints: The sum is 5050.
// prints: 4 items in the conversation
// prints: sales.csv: 18 bytes
// prints: message
// prints: Over chat completions.
