import type { TurnRequest } from "../../adapter/model-client.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { AdapterSettings } from "../adapter-settings.ts";
import type { CodecEnv } from "../codecs/codec.ts";
import { collectHeaders, createWireRequest } from "../request/request.ts";
import { collectToolSecrets, readSecrets } from "../secrets.ts";
import type { RequestBase } from "./send-request.ts";

/** The state of a conversation that its requests depend on, in addition to the prompt. */
export interface RequestState {
  /** The environment that codecs serialize tools for. */
  readonly env: CodecEnv;
  /** The size in tokens above which the server compacts; `null` if it does not. */
  readonly serverThreshold: number | null;
}

/** Creates a conversation's requests without their input. A request is serialized again only after a change. */
export class RequestBaseCache {
  readonly #settings: AdapterSettings;
  #last: CachedBase | null = null;

  constructor(settings: AdapterSettings) {
    this.#settings = settings;
  }

  /** Returns the last base, or a new one if the prompt, the tool choice or the state has changed. */
  get(
    { rendered, toolChoice }: Pick<TurnRequest, "rendered" | "toolChoice">,
    { env, serverThreshold }: RequestState,
  ): RequestBase {
    const last = this.#last;
    const { containerId } = env;
    const isSame = last?.rendered === rendered && last.toolChoice === toolChoice;
    const isSameState =
      last?.containerId === containerId && last.serverThreshold === serverThreshold;
    if (last && isSame && isSameState) return last.base;
    const { client, codecs } = this.#settings;
    const value = {
      ...createWireRequest(rendered, toolChoice, this.#settings, env),
      ...toContextManagement(serverThreshold),
    };
    const secrets = [...readSecrets(client), ...collectToolSecrets(value.tools ?? [])];
    const headers = collectHeaders(rendered, codecs);
    const base = { value, text: JSON.stringify(value), headers, secrets };
    this.#last = { rendered, toolChoice, containerId, serverThreshold, base };
    return base;
  }
}

/** A request without its input, with the values it was created from. */
interface CachedBase extends Pick<RequestState, "serverThreshold"> {
  readonly rendered: RenderedPrompt;
  readonly toolChoice: unknown;
  readonly containerId: string | null;
  readonly base: RequestBase;
}

/** Creates the request field that makes the server compact. */
function toContextManagement(threshold: number | null): object {
  if (threshold === null) return {};
  return { context_management: [{ type: "compaction", compact_threshold: threshold }] };
}
