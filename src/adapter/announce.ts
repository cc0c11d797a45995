import type { Clock } from "../base/clock.ts";
import type { Session } from "../session/session.ts";
import type {
  CompactionDiscarded,
  CompactionFailed,
  CompactionKept,
  ContainerReplaced,
  ContextCompacted,
  DataHeld,
  EventStamp,
  HistoryRepaired,
  HostedToolOmitted,
  OverrideSkipped,
  PromptExecuted,
  PromptRendered,
  ToolInvoked,
  TurnCompleted,
  TurnStarted,
  UnpackingFailed,
  WorkspaceSynced,
} from "./events.ts";

/** Whose events these are. */
export interface Announcer {
  readonly session: Session;
  readonly prompt: { readonly name: string };
  /** The provider's name, as events give it. */
  readonly adapterName: string;
  readonly clock: Clock;
}

/** An event of the loop without who, what and when. */
export type Announcement =
  | Unstamped<PromptRendered>
  | Unstamped<TurnStarted>
  | Unstamped<TurnCompleted>
  | Unstamped<ToolInvoked>
  | Unstamped<PromptExecuted>
  | Unstamped<HostedToolOmitted>
  | Unstamped<OverrideSkipped>
  | Unstamped<HistoryRepaired>
  | Unstamped<ContainerReplaced>
  | Unstamped<UnpackingFailed>
  | Unstamped<WorkspaceSynced>
  | Unstamped<ContextCompacted>
  | Unstamped<CompactionKept>
  | Unstamped<CompactionDiscarded>
  | Unstamped<CompactionFailed>
  | Unstamped<DataHeld>;

type Unstamped<Event> = Omit<Event, keyof EventStamp>;

/** Stamps an event and dispatches it on the session. */
export function announce(
  { session, prompt, adapterName, clock }: Announcer,
  event: Announcement,
): void {
  const stamp: EventStamp = {
    sessionId: session.id,
    promptName: prompt.name,
    adapter: adapterName,
    createdAt: new Date(clock.now()).toISOString(),
  };
  session.dispatch(Object.freeze({ ...stamp, ...event }));
}
