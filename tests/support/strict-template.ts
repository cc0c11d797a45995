/**
 * The rules of the strictest chat templates that model servers use, with the messages of those templates: Qwen 3.5 to
 * 3.8 ("at the beginning", "No user query"), Mistral, Ministral and Devstral ("must alternate", "after role 'tool'").
 */
type Message = Readonly<Record<string, unknown>>;

/** Returns what the templates refuse about a chat completions or Responses request, or `null`. */
export function findTemplateProblem(body: Readonly<Record<string, unknown>>): string | null {
  const messages = Array.isArray(body["messages"]) ? body["messages"] : toMessages(body);
  const roles = messages.map(({ role }: Message) => String(role));
  if (roles.lastIndexOf("system") > 0) return "System message must be at the beginning.";
  if (!roles.includes("user")) return "No user query found in messages.";
  const unknown = roles.find((role) => !["system", "user", "assistant", "tool"].includes(role));
  if (unknown !== undefined) return `Unexpected message role ${unknown}.`;
  return findOrderProblem(messages.filter(({ role }: Message) => role !== "system"));
}

function findOrderProblem(messages: readonly Message[]): string | null {
  let users = 0;
  let answers = 0;
  for (const [place, { role, tool_calls: calls }] of messages.entries()) {
    const before = messages[place - 1];
    if (role === "user" && before?.["role"] === "tool")
      return "Unexpected role 'user' after role 'tool'";
    if (role === "tool" && before?.["role"] !== "tool" && before?.["tool_calls"] === undefined)
      return `Unexpected role 'tool' after role '${before?.["role"]}'`;
    if (role === "tool" || calls !== undefined) continue;
    if ((role === "user") !== (users === answers)) return ALTERNATE;
    if (role === "user") users++;
    else answers++;
  }
  return null;
}

const ALTERNATE =
  "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...";

/** Returns the messages that servers make from a Responses request before they apply the template. */
function toMessages({ instructions, input }: Readonly<Record<string, unknown>>): Message[] {
  const messages: Message[] = typeof instructions === "string" ? [{ role: "system" }] : [];
  for (const { type, role } of input as readonly Message[]) {
    const isSecondCall = type === "function_call" && messages.at(-1)?.["tool_calls"] !== undefined;
    if (isSecondCall) continue;
    if (type === "function_call") messages.push({ role: "assistant", tool_calls: [] });
    else messages.push({ role: type === "function_call_output" ? "tool" : role });
  }
  return messages;
}
