import { exportSession } from "../../../src/cli/sessions/export-session.ts";
import { listSessions } from "../../../src/cli/sessions/list-sessions.ts";
import { removeSessions } from "../../../src/cli/sessions/remove-sessions.ts";
import type { SessionsActions } from "../../../src/cli/sessions/sessions-actions.ts";
import { showSession } from "../../../src/cli/sessions/show-session.ts";
import { runWink } from "./run-wink.ts";

const sessions: SessionsActions = {
  ls: listSessions,
  show: showSession,
  export: exportSession,
  rm: removeSessions,
};

/** Runs a command of `wink sessions` in this process. Returns its output and its exit code. */
export async function runSessionsCommand(...args: readonly string[]) {
  return await runWink({ sessions }, ["sessions", ...args]);
}
