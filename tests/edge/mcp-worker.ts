import { Session, type ToolContext } from "weakincentives";
import { McpToolsSection } from "weakincentives/mcp";

/** A worker that calls a tool of the MCP server in the request's body. */
const worker = {
  async fetch(request: Request): Promise<Response> {
    const { command, url, word } = JSON.parse(await request.text());
    const section = new McpToolsSection({ server: command ? { command } : { url } });
    const context = { session: new Session(), signal: AbortSignal.timeout(30_000) };
    try {
      await section.prepare(context);
      const echo = section.tools().find(({ name }) => name === "echo");
      const result = await echo?.handler?.({ word }, context as unknown as ToolContext);
      return Response.json({ message: result?.message });
    } catch (error) {
      return Response.json({ message: String(error) });
    } finally {
      await section.release(context);
    }
  },
};

// biome-ignore lint/style/noDefaultExport: workerd calls the default export
export default worker;
