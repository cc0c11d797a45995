import { randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { html } from "hono/html";
import { secureHeaders } from "hono/secure-headers";
import type { ApprovalRequest } from "weakincentives";
import { readWaiting, runAgent } from "./agent.ts";

/**
 * Creates a page with the calls that wait for approval in a folder. A click continues the agent in this process. `path`
 * has a secret, and everyone with the whole URL may decide: send it only to one person.
 */
export function createApprovalApp(folder: string): { readonly app: Hono; readonly path: string } {
  const path = `/${randomBytes(24).toString("base64url")}`;
  const app = new Hono();
  const none = ["'none'"];
  const self = ["'self'"];
  const noFrames = { frameAncestors: none, baseUri: none };
  const contentSecurityPolicy = { defaultSrc: none, styleSrc: self, formAction: self, ...noFrames };
  app.use(secureHeaders({ contentSecurityPolicy })); // no script at all runs in the page
  const css = readFileSync(new URL("page.css", import.meta.url), "utf8");
  app.get("/page.css", (context) => context.body(css, 200, { "content-type": "text/css" }));

  let running: Promise<string | null> | null = null;
  app.get("/:secret", async (context) => {
    if (!isSame(context.req.path, path)) return context.notFound();
    context.header("cache-control", "no-store");
    const waiting = readWaiting(folder);
    if (waiting.length > 0) return context.html(renderPage(waiting.map(renderCall)));
    const answer = await runAgent(folder); // it has ended, so this returns the stored answer
    return context.html(
      renderPage(html`<div class="card"><h2>Done</h2><p id="answer">${answer}</p></div>`),
    );
  });

  app.post("/:secret", bodyLimit({ maxSize: 64 * 1024 }), async (context) => {
    // Browsers send this header with every request, and no page can change it.
    const isOwnPage = context.req.header("sec-fetch-site") === "same-origin";
    if (!isSame(context.req.path, path) || !isOwnPage) return context.text("Forbidden", 403);
    const { key, decision } = await context.req.parseBody();
    if (decision !== "approve" && decision !== "deny") return context.text("Bad request", 400);
    const isWaiting = readWaiting(folder).some((request) => request.key === key);
    if (!isWaiting || running) return context.text("This call is already decided.", 409);
    running = runAgent(folder, { [String(key)]: decision }).finally(() => {
      running = null;
    });
    await running;
    return context.redirect(path, 303);
  });
  return { app, path };
}

/** Compares secrets in constant time. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

type Markup = ReturnType<typeof html>;

/** The template `html` escapes its values: the params are written by a model, and are shown as text. */
function renderCall({ key, name, params, promptName }: ApprovalRequest): Markup {
  return html`<form method="post" class="card">
    <h2><code>${name}</code></h2>
    <p><code>${promptName}</code> waits for your decision about this call:</p>
    <pre tabindex="0" aria-label="Parameters">${toVisibleText(params)}</pre>
    <input type="hidden" name="key" value="${key}">
    <div class="buttons">
      <button name="decision" value="approve">Approve</button>
      <button name="decision" value="deny" class="quiet">Deny</button>
    </div>
  </form>`;
}

/** Returns the params as JSON. Invisible characters, which can reverse or hide text, become escapes. */
function toVisibleText(params: unknown): string {
  const toEscape = (one: string) => `\\u{${one.codePointAt(0)?.toString(16)}}`;
  return JSON.stringify(params, null, 2).replaceAll(/[^\P{C}\n]/gu, toEscape);
}

function renderPage(content: Markup | readonly Markup[]): Markup {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Approvals</title>
    <link rel="stylesheet" href="/page.css">
  </head>
  <body>
    <main>
      <h1>Approvals</h1>
      ${content}
    </main>
  </body>
</html>`;
}
