/** Serves the chat to a browser: run `node server.ts` in this folder, then open the URL. */
// needs: hono, @hono/node-server
import { serve } from "@hono/node-server";
import { createAdapter } from "./assistant.ts";
import { createChatApp } from "./chat-app.ts";

const { adapter } = createAdapter();
const port = Number(process.env["PORT"] ?? 3000);
serve({ fetch: createChatApp(adapter).fetch, port, hostname: "127.0.0.1" }, () => {
  console.log(`http://127.0.0.1:${port}`);
});
