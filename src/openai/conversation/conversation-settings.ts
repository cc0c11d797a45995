import type { Prompt } from "../../prompt/prompt.ts";
import type { Session } from "../../session/session.ts";
import type { AdapterSettings } from "../settings.ts";

/** An adapter's settings, and what one evaluation adds to them. */
export interface ConversationSettings extends AdapterSettings {
  readonly prompt: Prompt;
  readonly session: Session;
  /** Whether the conversation continues the session's stored history. */
  readonly continues: boolean;
}
