import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { Session, type ToolContext } from "weakincentives";
import { McpToolsSection } from "weakincentives/mcp";
import { type HttpBehavior, startHttpServer } from "../support/mcp/http-server.ts";
import { call, runMcp } from "../support/mcp/run-mcp.ts";
import { MemorySessionStore } from "../support/memory-session-store.ts";

async function createSection(
  behavior: HttpBehavior = {},
  options: Partial<ConstructorParameters<typeof McpToolsSection>[0]> = {},
) {
  const { url, requests } = await startHttpServer(behavior);
  return { section: new McpToolsSection({ server: { url }, ...options }), requests, url };
}

describe("a server over streamable HTTP", () => {
  test("runs calls, gets the headers, and has its session ended", async () => {
    const { url, requests } = await startHttpServer({ authorization: "Bearer t-12345678" });
    const headers = { Authorization: "Bearer t-12345678" };
    const section = new McpToolsSection({ server: { url, headers } });
    const { results } = await runMcp(section, [call("echo", { word: "owl" })]);
    expect(results[0]?.message).toBe('{"word":"owl"}');
    expect(requests.at(-1)).toMatchObject({
      method: "DELETE",
      headers: { "mcp-session-id": "session-1" },
    });
  });

  test("gets the token of an authProvider", async () => {
    const { url } = await startHttpServer({ authorization: "Bearer from-provider" });
    const authProvider = { token: async () => "from-provider" };
    const section = new McpToolsSection({ server: { url, authProvider } });
    const { results } = await runMcp(section, [call("structured")]);
    expect(results[0]?.value).toEqual({ total: 12 });
  });

  test("gets the token that an OAuth provider has stored", async () => {
    const { url } = await startHttpServer({ authorization: "Bearer stored-token" });
    const authProvider: OAuthClientProvider = {
      redirectUrl: "http://localhost/callback",
      clientMetadata: { redirect_uris: ["http://localhost/callback"] },
      clientInformation: () => ({ client_id: "tests" }),
      tokens: () => ({ access_token: "stored-token", token_type: "Bearer" }),
      saveTokens: () => {},
      redirectToAuthorization: () => {},
      saveCodeVerifier: () => {},
      codeVerifier: () => "verifier",
    };
    const section = new McpToolsSection({ server: { url, authProvider } });
    const { results } = await runMcp(section, [call("structured")]);
    expect(results[0]?.success).toBe(true);
  });

  test("that wants a token ends the evaluation with a remedy, without the secrets", async () => {
    const { url } = await startHttpServer({ authorization: "Bearer right" });
    const server = { url, headers: { Authorization: "Bearer wrong-12345" } };
    const error: unknown = await runMcp(new McpToolsSection({ server })).catch((thrown) => thrown);
    const message = String(error);
    expect(message).toContain("Pass a token in headers, or an authProvider.");
    expect(message).not.toContain("wrong-12345");
    expect(message).not.toContain("in-the-url");
  });

  test("uses the fetch that is passed", async () => {
    const { url } = await startHttpServer();
    const urls: string[] = [];
    const section = new McpToolsSection({
      server: {
        url,
        fetch: (input, init) => {
          urls.push(String(input));
          return fetch(input, init);
        },
      },
    });
    await runMcp(section);
    expect(urls.length).toBeGreaterThan(1);
  });

  test.each(["json", "event"] as const)(
    "that sends an endless %s fails the call",
    async (floods) => {
      const { section } = await createSection({ floods }, { callTimeoutMs: 20_000 });
      const { results } = await runMcp(section, [call("echo", { word: "a" })]);
      expect(results[0]?.success).toBe(false);
      expect(results[0]?.message).toContain("of more than 10485760 bytes");
    },
  );

  test("that changes its tools has them listed again", async () => {
    const { section, requests } = await createSection();
    const context = { session: new Session(), signal: new AbortController().signal };
    onTestFinished(() => section.release(context));
    await section.prepare(context);
    await expect.poll(() => requests.some(({ method }) => method === "GET")).toBe(true);
    const before = section.revision;
    const change = section.tools().find(({ name }) => name === "change");
    const add = [{ name: "_new", inputSchema: { type: "object" } }];
    await change?.handler?.({ add }, { signal: context.signal } as ToolContext);
    await expect.poll(() => section.revision).not.toBe(before);
    await section.prepare(context);
    expect(section.tools().map(({ name }) => name)).toContain("_new");
  });

  test("that forgets its session is connected again next turn", async () => {
    const { section, requests } = await createSection({ callStatus: 404 });
    const { results } = await runMcp(section, [
      call("echo", { word: "a" }),
      call("echo", { word: "b" }),
    ]);
    expect(results.map(({ success }) => success)).toEqual([false, false]);
    expect(requests.filter(({ rpc }) => rpc === "initialize")).toHaveLength(3);
  });

  test("that does not answer the end of its session is not waited for", async () => {
    const { section, requests } = await createSection({ keepsSession: true });
    const { text } = await runMcp(section);
    expect(text).toBe("Done.");
    expect(requests.at(-1)?.method).toBe("DELETE");
  });

  test("that never answers ends the evaluation after timeoutMs", async () => {
    const silent = ["server/discover", "initialize"];
    const { section } = await createSection({ silent }, { timeoutMs: 500 });
    await expect(runMcp(section)).rejects.toThrow("it did not answer within 500 ms");
  });

  test("that is shut down does not prevent a finished evaluation from returning its answer", async () => {
    const { url, stop } = await startHttpServer();
    const section = new McpToolsSection({ server: { url } });
    const session = new Session({ id: "s", store: new MemorySessionStore() });
    await runMcp(section, [call("echo", { word: "a" })], { session, resume: true });
    await stop();
    const { text, asked } = await runMcp(section, [], { session, resume: true });
    expect([text, asked]).toEqual(["Done.", []]);
    await expect(runMcp(section, [], { session })).rejects.toThrow("could not be connected");
  });

  test("that cannot be reached ends the evaluation", async () => {
    const section = new McpToolsSection({ server: { url: "http://127.0.0.1:1/mcp" } });
    await expect(runMcp(section)).rejects.toThrow(
      'The MCP server "http://127.0.0.1:1" could not be connected',
    );
  });
});
