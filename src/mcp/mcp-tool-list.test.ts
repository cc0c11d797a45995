import { describe, expect, test } from "vitest";
import {
  connectInProcess,
  createContext,
  prepareSection,
} from "../../tests/support/mcp/in-process-server.ts";
import { McpToolsSection } from "./mcp-tools-section.ts";

const countLists = (received: readonly string[]) =>
  received.filter((method) => method === "tools/list").length;

describe("the list of a server's tools", () => {
  test("is loaded once for evaluations that start later", async () => {
    const { section, received, names } = await prepareSection();
    await section.prepare(createContext());
    expect(countLists(received)).toBe(1);
    expect(names()).toContain("echo");
  });

  test("stays valid if the server sends another notification", async () => {
    const { section, notify, received } = await prepareSection();
    const before = section.revision;
    await notify("notifications/resources/list_changed");
    await section.prepare(createContext());
    expect(section.revision).toBe(before);
    expect(countLists(received)).toBe(1);
  });

  test("is empty if the server offers only resources", async () => {
    const { names, received } = await prepareSection({ capabilities: { resources: {} } });
    expect([names(), countLists(received)]).toEqual([[], 0]);
  });

  test("is not offered to an evaluation that starts after the caller's client was closed", async () => {
    const { section, client } = await prepareSection();
    await client.close();
    await expect(section.prepare(createContext())).rejects.toThrow("is not connected");
  });

  test("is empty for a running evaluation after the section and the client were closed", async () => {
    const { section, client, context, names } = await prepareSection();
    await section.close();
    await client.close();
    await section.prepare(context);
    expect(names()).toEqual([]);
    expect(context.session.bus).toMatchObject({
      events: [{ type: "McpRefreshFailed", reason: expect.stringContaining("is not connected") }],
    });
  });

  test("does not keep its handler on the caller's client if the section is closed while it loads", async () => {
    const { client, received } = await connectInProcess();
    const section = new McpToolsSection({ server: { client } });
    const preparing = section.prepare(createContext());
    await Promise.all([
      expect(preparing).rejects.toThrow("The section was closed."),
      section.close(),
    ]);
    expect(client.fallbackNotificationHandler).toBeUndefined();
    expect(countLists(received)).toBe(0);
  });

  test("shows the failure of the caller's client", async () => {
    const { client } = await connectInProcess({ listResult: { tools: "none" } });
    const section = new McpToolsSection({ server: { client } });
    await expect(section.prepare(createContext())).rejects.toThrow(
      "The MCP server of the client could not list its tools: ",
    );
  });
});
