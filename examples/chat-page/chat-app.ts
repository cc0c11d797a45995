import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { getCookie, setCookie } from "hono/cookie";
import { secureHeaders } from "hono/secure-headers";
import { Session } from "weakincentives";
import type { OpenAIAdapter } from "weakincentives/openai";
import { assistant } from "./assistant.ts";

/** One browser's chat: the session that the agent continues, and what the page shows of it. */
interface Chat {
  readonly session: Session;
  readonly messages: { readonly role: "user" | "assistant"; readonly text: string }[];
  isBusy: boolean;
}

const MAX_CHATS = 1_000;

/** A page with a chat. `POST /chat` streams the answer; closing that request cancels it. */
export function createChatApp(adapter: OpenAIAdapter): Hono {
  const chats = new Map<string, Chat>();
  const app = new Hono();
  const none = ["'none'"];
  const self = ["'self'"];
  const contentSecurityPolicy = { defaultSrc: none, scriptSrc: self, styleSrc: self };
  const noFrames = { connectSrc: self, baseUri: none, formAction: none, frameAncestors: none };
  app.use(secureHeaders({ contentSecurityPolicy: { ...contentSecurityPolicy, ...noFrames } }));

  for (const [path, file, type] of pageFiles) {
    const content = readFileSync(new URL(file, import.meta.url), "utf8");
    app.get(path, (context) => context.body(content, 200, { "content-type": type }));
  }

  app.get("/chat", (context) =>
    context.json(chats.get(getCookie(context, "chat") ?? "")?.messages ?? []),
  );

  app.post("/chat", bodyLimit({ maxSize: 64 * 1024 }), async (context) => {
    // Browsers send this header with every request, and no page can change it.
    if (context.req.header("sec-fetch-site") !== "same-origin") return context.text("", 403);
    const { text } = Object(await context.req.json().catch(() => null));
    if (typeof text !== "string" || text.trim() === "") return context.text("", 400);

    const id = getCookie(context, "chat") ?? "";
    const chat = chats.get(id) ?? { session: new Session(), messages: [], isBusy: false };
    if (chat.isBusy) return context.text("", 409);
    if (!chats.has(id)) {
      const newId = randomUUID();
      setCookie(context, "chat", newId, { httpOnly: true, sameSite: "Strict", path: "/" });
      chats.set(newId, chat);
      const [oldest = ""] = chats.keys();
      if (chats.size > MAX_CHATS) chats.delete(oldest);
    }

    chat.isBusy = true;
    const { session } = chat;
    const stream = adapter.stream(assistant, { session, input: text, continue: true });
    stream.response
      .then((response) => {
        chat.messages.push({ role: "user", text }, { role: "assistant", text: response.text });
      })
      .catch((error: unknown) => console.error(error)) // the page gets only the name of the error
      .finally(() => {
        chat.isBusy = false;
      });
    return stream.toResponse({ headers: context.res.headers }); // with the cookie
  });
  return app;
}

const pageFiles = [
  ["/", "page.html", "text/html; charset=utf-8"],
  ["/page.css", "page.css", "text/css; charset=utf-8"],
  ["/page.js", "page.js", "text/javascript; charset=utf-8"],
] as const;
