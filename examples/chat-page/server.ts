/**
 * A chat in the browser: `node examples/chat-page/server.ts`, then open the URL. With OPENAI_API_KEY it uses OpenAI's
 * API, otherwise a scripted model on this machine.
 */
import { serve } from "@hono/node-server";
import { LocalProvider } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { demoModel } from "./assistant.ts";
import { createChatApp } from "./chat-app.ts";

const apiKey = process.env["OPENAI_API_KEY"];
const provider = new LocalProvider({ model: demoModel });
const adapter = apiKey
  ? new OpenAIAdapter({ model: process.env["OPENAI_MODEL"] ?? "gpt-5" })
  : new OpenAIAdapter({ model: "demo", clientConfig: { apiKey: "local", fetch: provider.fetch } });
const port = Number(process.env["PORT"] ?? 3000);
serve({ fetch: createChatApp(adapter).fetch, port, hostname: "127.0.0.1" }, () => {
  console.log(`http://127.0.0.1:${port}`);
});
