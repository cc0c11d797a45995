import { messageOf, WinkError } from "../base/errors.ts";
import type { Given } from "./given.ts";

/** What we use of `@anthropic-ai/claude-agent-sdk`: the package itself fits. */
export interface ClaudeSdk {
  query(request: SdkRequest): AsyncIterable<unknown>;
}

/** What the SDK's `query` is asked. */
export interface SdkRequest {
  readonly prompt: AsyncIterable<SdkUserMessage>;
  readonly options: Given;
}

/** A message to the model, in Anthropic's words. */
export interface SdkUserMessage {
  readonly type: "user";
  readonly message: { readonly role: "user"; readonly content: readonly object[] };
  readonly parent_tool_use_id: null;
}

const PACKAGE = "@anthropic-ai/claude-agent-sdk";

/** The installed SDK. It is large and has a licence of its own, so that nobody gets it unasked. */
export async function loadSdk(
  load: () => Promise<Partial<ClaudeSdk>> = () => import(PACKAGE),
): Promise<ClaudeSdk> {
  let loaded: Partial<ClaudeSdk>;
  try {
    loaded = await load();
  } catch (cause) {
    const isMissing =
      /cannot find (package|module)|failed to (load|resolve)|could not resolve/i.test(
        messageOf(cause),
      );
    const problem = isMissing ? "is not installed" : `could not be loaded (${messageOf(cause)})`;
    const remedy = `run npm install ${PACKAGE}, or give it as the adapter's sdk`;
    throw new WinkError(`The Claude Agent SDK ${problem}: ${remedy}`, { cause });
  }
  if (typeof loaded.query === "function") return loaded as ClaudeSdk;
  throw new WinkError(`${PACKAGE} has no query(): install version 0.3 or later`);
}
