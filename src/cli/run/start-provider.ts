import { randomBytes } from "node:crypto";
import type { LocalProviderOptions } from "../../local/provider-options.ts";
import { type OpenedProvider, openProvider } from "../open-provider.ts";
import type { ProviderChoice } from "../provider-choice.ts";

/** A local provider for one program or agent. */
export interface StartedProvider extends AsyncDisposable {
  readonly opened: OpenedProvider;
  readonly url: string;
  /** The variables that the official SDKs and this package read. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Starts a local provider with a random key, so that only the holder of `variables` can use it. */
export async function startProvider(
  choice: ProviderChoice,
  onRequest: LocalProviderOptions["onRequest"],
): Promise<StartedProvider> {
  const apiKey = randomBytes(24).toString("base64url");
  const opened = await openProvider(choice, { apiKey, onRequest });
  try {
    const { url } = await opened.provider.listen();
    return {
      opened,
      url,
      variables: createVariables(url, apiKey),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

function createVariables(url: string, apiKey: string): Readonly<Record<string, string>> {
  return {
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: apiKey,
    ANTHROPIC_BASE_URL: url.replace(/\/v1$/, ""),
    ANTHROPIC_API_KEY: apiKey,
  };
}
