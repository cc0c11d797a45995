/** Who speaks in a message: the developer of the agent, or its user. */
export type MessageRole = "system" | "user";
