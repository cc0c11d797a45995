import type { UnknownRecord } from "../../base/json.ts";

/** A call of the current turn. */
export interface OpenCall {
  readonly key: string;
  readonly callId: string;
  isAnswered: boolean;
}

/** How far one evaluation has got while its events are read. */
export class EvaluationTrack {
  readonly key: string;
  readonly promptName: string;
  /** When it started, in milliseconds since 1970. */
  readonly startedAt: number | null;
  isEnded = false;
  hasInput = false;
  /** Key of the current turn; `null` before the first. */
  turnKey: string | null = null;
  /** Number of the current turn. */
  turn = 0;
  /** Whether the current turn's response is complete. */
  isTurnComplete = true;
  calls: OpenCall[] = [];
  /** Number of nested evaluations so far. */
  nestedCount = 0;
  /** Citations of the last turn. */
  citations: readonly UnknownRecord[] = [];
  tokens = 0;
  usd: number | null = null;

  constructor(key: string, promptName: string, startedAt: number | null) {
    this.key = key;
    this.promptName = promptName;
    this.startedAt = startedAt;
  }

  /** The call that runs now, if calls run one after the other. */
  get runningCall(): OpenCall | undefined {
    return this.calls.find(({ isAnswered }) => !isAnswered);
  }

  /** Key of the entry to which an event belongs that happens now. */
  get currentKey(): string {
    const call = this.runningCall;
    if (call) return call.key;
    return this.turnKey !== null && !this.isTurnComplete ? this.turnKey : this.key;
  }

  /** Returns the current turn's unanswered call with this id. */
  takeCall(callId: string): OpenCall | undefined {
    const call = this.calls.find((one) => !one.isAnswered && one.callId === callId);
    if (call) call.isAnswered = true;
    return call;
  }
}
