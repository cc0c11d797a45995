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

/** Returns how long a file is kept if the client does not say; `undefined` until it is deleted. */
export function getDefaultLifetime(purpose: string): number | undefined {
  return purpose === "batch" ? fileLifetime[1] : undefined;
}
