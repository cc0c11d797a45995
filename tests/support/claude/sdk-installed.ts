import { loadSdk } from "../../../src/claude/sdk.ts";

/** Why tests that need the Claude Agent SDK are skipped; `null` if it is installed. */
export const sdkMissing: string | null = await loadSdk().then(
  () => null,
  (error: Error) => error.message,
);

/** The SDK's process is large and starts slowly on a busy machine. */
export const SDK_TIMEOUT = 60_000;
