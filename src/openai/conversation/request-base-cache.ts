import type { TurnRequest } from "../../adapter/model-client.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { AdapterSettings } from "../adapter-settings.ts";
import type { CodecEnv, HostedToolCodec } from "../codecs/codec.ts";
import { defaultCodecs } from "../codecs/index.ts";
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

/**
 * Creates a conversation's requests without their input. A request is serialized again only after a change, also if
 * the evaluation before, of any session, had the same prompt.
 */
export class RequestBaseCache {
  readonly #settings: AdapterSettings;
  readonly #shared: LastRequest;
  #last: CachedBase | null = null;

  constructor(settings: AdapterSettings, shared: LastRequest) {
    this.#settings = settings;
    this.#shared = shared;
  }

  /** Returns the last base, or a new one if the prompt, the tool choice or the state has changed. */
  get(request: RequestPrompt, state: RequestState): RequestBase {
    const last = this.#last;
    if (last && isSameRequest(last.request, request, state)) return last.base;
    const shared = this.#getShared(request, state);
    const { value, text, headers, toolSecrets } = shared;
    const secrets = [...readSecrets(this.#settings.client), ...toolSecrets];
    const base = { value, text, headers, secrets };
    this.#last = { request: shared, base };
    return base;
  }

  /** Whether the adapter's last request had this prompt, so that its hosted tools can be used. */
  isKnown(rendered: RenderedPrompt): boolean {
    return this.#shared.current?.rendered === rendered;
  }

  /** Returns the adapter's last request if it is the same. */
  #getShared(request: RequestPrompt, state: RequestState): SerializedRequest {
    const { codecs } = this.#settings;
    const { current } = this.#shared;
    if (current && isSameRequest(current, request, state)) return current;
    const created = this.#create(request, state);
    // A codec of the caller's may serialize the same tool differently for each evaluation.
    const isShared = request.rendered.hostedTools.every(({ kind }) => isBuiltIn(codecs.get(kind)));
    if (isShared) this.#shared.current = created;
    return created;
  }

  #create(request: RequestPrompt, { env, serverThreshold }: RequestState): SerializedRequest {
    const { rendered, toolChoice } = request;
    const value = {
      ...createWireRequest(rendered, toolChoice, this.#settings, env),
      ...toContextManagement(serverThreshold),
    };
    return {
      rendered,
      toolChoice,
      containerId: env.containerId,
      serverThreshold,
      value,
      text: JSON.stringify(value),
      headers: collectHeaders(rendered, this.#settings.codecs),
      toolSecrets: collectToolSecrets(value.tools ?? []),
    };
  }
}

/** The last serialized request of an adapter. Every evaluation uses and changes this object. */
export interface LastRequest {
  current: SerializedRequest | null;
}

type RequestPrompt = Pick<TurnRequest, "rendered" | "toolChoice">;

/** The last request of a conversation, and its base. */
interface CachedBase {
  readonly request: SerializedRequest;
  readonly base: RequestBase;
}

/** A request without its input, and the values that it was created from. */
interface SerializedRequest
  extends RequestPrompt,
    Pick<RequestState, "serverThreshold">,
    Pick<CodecEnv, "containerId">,
    Omit<RequestBase, "secrets"> {
  /** Credentials in the tools. */
  readonly toolSecrets: readonly string[];
}

/** The rest of the environment depends only on the prompt and the adapter. */
function isSameRequest(
  last: SerializedRequest,
  { rendered, toolChoice }: RequestPrompt,
  { env, serverThreshold }: RequestState,
): boolean {
  const isSamePrompt = last.rendered === rendered && last.toolChoice === toolChoice;
  const { containerId } = env;
  return (
    isSamePrompt && last.containerId === containerId && last.serverThreshold === serverThreshold
  );
}

/** Whether a kind's codec is built in, or missing, so that it does the same for the same tool and cannot fail. */
export function isBuiltIn(codec: HostedToolCodec | undefined): boolean {
  return codec === undefined || defaultCodecs.includes(codec);
}

/** Creates the request field that makes the server compact. */
function toContextManagement(threshold: number | null): object {
  if (threshold === null) return {};
  return { context_management: [{ type: "compaction", compact_threshold: threshold }] };
}
