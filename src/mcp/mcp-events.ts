declare module "../session/event-map.ts" {
  /** Adds the events of `weakincentives/mcp` to the event map. */
  interface EventMap {
    /** A tool of an MCP server is not offered to the model. */
    McpToolOmitted: McpToolOmitted;
    /** The tools of an MCP server could not be listed again. */
    McpRefreshFailed: McpRefreshFailed;
  }
}

/** A tool of an MCP server is not offered to the model. */
export interface McpToolOmitted {
  /** Name of the event. */
  readonly type: "McpToolOmitted";
  /** Id of the session. */
  readonly sessionId: string;
  /** Key of the section. */
  readonly section: string;
  /** The server, as in error messages. */
  readonly server: string;
  /** Name of the tool at the server. */
  readonly tool: string;
  /** Why the tool is omitted. */
  readonly reason: string;
}

/**
 * The tools of an MCP server could not be listed again after a change, or the server could not be reached again.
 * The tools that were listed last stay offered.
 */
export interface McpRefreshFailed {
  /** Name of the event. */
  readonly type: "McpRefreshFailed";
  /** Id of the session. */
  readonly sessionId: string;
  /** Key of the section. */
  readonly section: string;
  /** The server, as in error messages. */
  readonly server: string;
  /** What failed. */
  readonly reason: string;
}
