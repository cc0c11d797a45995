/** Limits on what an MCP server can put into a prompt, into memory and into the time of an evaluation. */
export const MCP_LIMITS = Object.freeze({
  /** Tools that a section offers. OpenAI accepts 128 in a request. */
  tools: 128,
  /** Pages of a list of tools. */
  pages: 20,
  /** Characters of a tool's description. The rest is cut. */
  descriptionChars: 2_048,
  /** Characters of a description or title within a schema. The rest is cut. */
  schemaTextChars: 1_024,
  /** Characters of a tool's schema as JSON. */
  schemaChars: 65_536,
  /** Nested objects and arrays of a tool's schema. */
  schemaDepth: 32,
  /** Schemas that arguments are compared with, after each `$ref` is replaced by its target. */
  schemaNodes: 10_000,
  /** Characters of a result that the model reads. The rest is cut. */
  resultChars: 100_000,
  /** Characters of a result's value as JSON. */
  valueChars: 1_000_000,
  /** Bytes of one message of the server. */
  messageBytes: 10_485_760,
  /** Characters of the server's error output that are kept for error messages. */
  stderrChars: 2_048,
  /** Characters of the server's own text within an error message. */
  errorChars: 500,
});
