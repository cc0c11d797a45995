import { loadSdk } from "../../../src/claude/sdk.ts";

/** Why tests that need the Claude Agent SDK are left out; `null` if it is here. */
export const sdkMissing: string | null = await loadSdk().then(
  () => null,
  (error: Error) => error.message,
);

/** Starting its process, which is large, takes its time on a busy machine. */
export const SDK_TIMEOUT = 60_000;
