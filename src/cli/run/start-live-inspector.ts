import type { StreamFeed } from "../../adapter/turn-observer.ts";
import { LiveSession } from "../../inspect/live-session.ts";
import { SingleSource } from "../../inspect/sources/single-source.ts";
import { startInspector } from "../../inspect/start-inspector.ts";
import type { RunSession } from "./open-run-session.ts";

/** An inspector that shows a run of this process. */
export interface LiveInspector extends AsyncDisposable {
  readonly url: string;
  /** Receives the text of the run as it arrives. */
  readonly feed: StreamFeed;
}

/** Starts the inspector for a session that is about to run. */
export async function startLiveInspector(
  { session, readEarlier }: Pick<RunSession, "session" | "readEarlier">,
  { label, port }: { readonly label: string; readonly port: number },
): Promise<LiveInspector> {
  const live = new LiveSession(session, await readEarlier());
  const source = new SingleSource({ label, id: session.id, feed: live, readBytes: undefined });
  const inspector = await startInspector(source, { port });
  return {
    url: inspector.url,
    feed: {
      onPart: (part) => live.addPart(part),
      onRestart: (turn) => live.addPart({ type: "restart", turn }),
      backlog: null,
    },
    async [Symbol.asyncDispose]() {
      live[Symbol.dispose]();
      await inspector[Symbol.asyncDispose]();
    },
  };
}
