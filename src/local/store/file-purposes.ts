/** The purposes of files that OpenAI accepts. */
export const filePurposes: readonly string[] = [
  "fine-tune",
  "assistants",
  "batch",
  "user_data",
  "vision",
  "evals",
];

/** The range of a file's `expires_after.seconds`: one hour to 30 days. */
export const fileLifetime: readonly [min: number, max: number] = [3600, 2_592_000];

/** Returns the default lifetime in seconds; `undefined` if files are kept until a client deletes them. */
export function getDefaultLifetime(purpose: string): number | undefined {
  return purpose === "batch" ? fileLifetime[1] : undefined;
}
