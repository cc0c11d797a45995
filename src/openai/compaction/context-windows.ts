/** The date of the table. It is made from published pages, because the API does not report the sizes. */
export const CONTEXT_WINDOWS_DATE = "2026-11-16";

/** The context windows of OpenAI's models in tokens, by a prefix of the model's name. */
const CONTEXT_WINDOWS: Readonly<Record<string, number>> = {
  "codex-mini": 200_000,
  "computer-use-preview": 8_192,
  "gpt-3.5-turbo": 16_385,
  "gpt-4": 8_192,
  "gpt-4-turbo": 128_000,
  "gpt-4.1": 1_047_576,
  "gpt-4.5": 128_000,
  "gpt-4o": 128_000,
  "gpt-5": 400_000,
  "gpt-5-chat": 128_000,
  "gpt-5.1-chat": 128_000,
  "gpt-5.2-chat": 128_000,
  "gpt-5.3-chat": 128_000,
  "gpt-5.4": 1_050_000,
  "gpt-5.4-mini": 400_000,
  "gpt-5.4-nano": 400_000,
  "gpt-5.5": 1_050_000,
  "gpt-5.6": 1_050_000,
  "gpt-oss": 131_072,
  o1: 200_000,
  "o1-mini": 128_000,
  "o1-preview": 128_000,
  o3: 200_000,
  "o4-mini": 200_000,
};

/** Returns a model's context window in tokens, by the longest prefix that matches; `null` if unknown. */
export function findContextWindow(model: string): number | null {
  const prefixes = Object.keys(CONTEXT_WINDOWS).filter((prefix) => model.startsWith(prefix));
  const longest = prefixes.reduce((one, other) => (other.length > one.length ? other : one), "");
  return CONTEXT_WINDOWS[longest] ?? null;
}
