import { getErrorMessage } from "../../base/errors.ts";
import { type SessionStore, SessionStoreError } from "../../session/session-store.ts";
import { escapeControls } from "../escape-controls.ts";
import { pluralize } from "../pluralize.ts";
import type { StoreChoice } from "./add-store-options.ts";
import { askOnTerminal } from "./ask-on-terminal.ts";
import { checkSession } from "./check-session.ts";
import type { RemoveOptions } from "./sessions-actions.ts";
import { useStore } from "./use-store.ts";

/** Deletes sessions. Prints how many, and why others stay. Returns the exit code: 1 if one was not deleted. */
export async function removeSessions(choice: StoreChoice, options: RemoveOptions): Promise<number> {
  const { yes, json, ask = askOnTerminal } = options;
  const ids = [...new Set(options.ids)];
  return await useStore(choice, async (store) => {
    for (const id of ids) await checkSession(store, id); // nothing is deleted if one is misspelled
    if (!yes && !(await ask(createQuestion(ids)))) {
      console.error("Nothing was deleted.");
      return 1;
    }
    const { deleted, failed } = await deleteAll(store, ids);
    if (json) console.log(JSON.stringify({ deleted, failed }));
    else {
      for (const { reason } of failed) console.error(`error: ${escapeControls(reason)}`);
      console.log(`${pluralize(deleted.length, "session")} deleted.`);
    }
    return failed.length > 0 ? 1 : 0;
  });
}

function createQuestion(ids: readonly string[]): string {
  const [first = ""] = ids;
  const what =
    ids.length === 1 ? `session ${escapeControls(first)}` : pluralize(ids.length, "session");
  return `Delete ${what}? This cannot be undone.`;
}

interface Removal {
  readonly deleted: readonly string[];
  readonly failed: readonly { readonly id: string; readonly reason: string }[];
}

async function deleteAll(store: SessionStore, ids: readonly string[]): Promise<Removal> {
  const deleted: string[] = [];
  const failed: { id: string; reason: string }[] = [];
  for (const id of ids) {
    try {
      await store.delete(id);
      deleted.push(id);
    } catch (error) {
      if (!(error instanceof SessionStoreError)) throw error;
      failed.push({ id, reason: describeRefusal(error, id) });
    }
  }
  return { deleted, failed };
}

/** Describes the error for a user who has no program that could wait for the claim. */
function describeRefusal(error: SessionStoreError, id: string): string {
  const { owner, since } = error;
  if (owner === null || since === null) return getErrorMessage(error);
  const what = `Session ${JSON.stringify(id)} is held by ${owner} since ${since}`;
  return `${what}. Wait until its evaluation ends, or stop that process.`;
}
