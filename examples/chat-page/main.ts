/** A chat in the browser, with two messages sent by a program; run server.ts to see the page. */
// With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
// needs: hono
import { createAdapter } from "./assistant.ts";
import { createChatApp } from "./chat-app.ts";

const { adapter, provider } = createAdapter();
const app = createChatApp(adapter);

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
await provider.close();
// prints: Python says: 42
// prints: You said: “Thank you.” Write some numbers and I add them.
