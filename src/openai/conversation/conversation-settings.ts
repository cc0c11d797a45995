import type { Prompt } from "../../prompt/prompt.ts";
import type { Session } from "../../session/session.ts";
import type { AdapterSettings } from "../adapter-settings.ts";
import type { EgressLog } from "../http/egress-log.ts";

/** The adapter's settings and the settings of one evaluation. */
export interface ConversationSettings extends AdapterSettings {
  readonly prompt: Prompt;
  readonly session: Session;
  /** Whether the conversation continues the session's stored history. */
  readonly continues: boolean;
  /** The requests of the evaluation. `client` records them. */
  readonly egress: EgressLog;
}
