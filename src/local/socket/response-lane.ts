import type { ConnectionResponses } from "../responses/conversation/conversations.ts";
import type { ThreadPoint } from "../responses/conversation/thread.ts";

/** A response in memory that can be continued. */
interface LatestResponse {
  readonly id: string;
  readonly point: ThreadPoint;
}

/** The requests of one `stream_id`. They run one after another. */
export class ResponseLane {
  /** Whether a request of the lane runs. */
  isRunning = false;
  #latest: LatestResponse | null = null;

  /** Returns the conversation up to the lane's latest response, if it has this id and is not stored. */
  get(id: string): ThreadPoint | undefined {
    return this.#latest?.id === id ? this.#latest.point : undefined;
  }

  /**
   * Starts a request. `find` returns responses of other lanes. Call `complete` when the response has ended, or
   * `fail` if it has failed.
   */
  begin(find: (id: string) => ThreadPoint | undefined): LaneTurn {
    this.isRunning = true;
    let finished: LatestResponse | null = null;
    return {
      recent: {
        get: (id) => this.get(id) ?? find(id),
        add: (id, point) => {
          finished = { id, point };
        },
      },
      complete: () => {
        this.isRunning = false;
        this.#latest = finished;
      },
      fail: (previous) => {
        this.isRunning = false;
        if (this.#latest?.id === previous) this.#latest = null;
      },
    };
  }
}

/** A request that runs in a lane. */
export interface LaneTurn {
  /** The responses that the request can continue. */
  readonly recent: ConnectionResponses;
  /** Ends the turn. Its response replaces the lane's latest one. */
  complete(): void;
  /** Ends the turn. The response that it tried to continue is discarded, if it belongs to the lane. */
  fail(previous: unknown): void;
}
