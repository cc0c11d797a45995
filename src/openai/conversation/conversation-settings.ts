import type { Prompt } from "../../prompt/prompt.ts";
import type { Session } from "../../session/session.ts";
import type { AdapterSettings } from "../adapter-settings.ts";
import type { EgressLog } from "../http/egress-log.ts";
import type { LastRequest } from "./request-base-cache.ts";

/** The adapter's settings and the settings of one evaluation. */
export interface ConversationSettings extends AdapterSettings {
  readonly prompt: Prompt;
  readonly session: Session;
  /** Whether the conversation continues the session's stored history. */
  readonly continues: boolean;
  /** The last request of the adapter, so that the next evaluation need not serialize it again. */
  readonly lastRequest: LastRequest;
  /** The requests of the evaluation. `client` records them. */
  readonly egress: EgressLog;
}
