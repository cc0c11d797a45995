/** Two messages to the chat of server.ts, without a browser. To see the page, run server.ts. */
import { LocalProvider } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { demoModel } from "./assistant.ts";
import { createChatApp } from "./chat-app.ts";

const provider = new LocalProvider({ model: demoModel });
const clientConfig = { apiKey: "local", fetch: provider.fetch };
const app = createChatApp(new OpenAIAdapter({ model: "demo", clientConfig }));

let cookie = "";
for (const text of ["What is 17 + 25?", "Thank you."]) {
  const response = await app.request("/chat", {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", cookie },
    body: JSON.stringify({ text }),
  });
  cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
  const events = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
  const parts = events.map((line) => JSON.parse(line.slice("data: ".length)));
  console.log(parts.map(({ delta = "" }) => delta).join(""));
}
await provider[Symbol.asyncDispose]();
// prints: Python says: 42
// prints: You said: “Thank you.” Write some numbers and I add them.
