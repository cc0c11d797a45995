import { InvalidOptionError } from "../../base/errors.ts";
import { findSessionPlace } from "../../inspect/sources/find-session-place.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { openStore } from "../open-store.ts";
import { ProgressLine } from "../progress-line.ts";
import type { StoreChoice } from "./add-store-options.ts";

/** Opens the chosen store for `work`, and closes it afterwards. Throws `InvalidOptionError` if there is none. */
export async function useStore<Result>(
  { place, schema }: StoreChoice,
  work: (store: SessionStore) => Promise<Result>,
): Promise<Result> {
  const progress = new ProgressLine(process.stderr);
  try {
    progress.show("Opening the store …");
    await checkExists(place);
    await using store = await openStore(place, { schema });
    progress.clear();
    return await work(store);
  } finally {
    progress.clear();
  }
}

/** A misspelled folder is an error, and not a store without sessions. */
async function checkExists(place: string): Promise<void> {
  const found = await findSessionPlace(place);
  if (place !== "" && found.kind !== "missing") return;
  throw new InvalidOptionError({
    field: "--store",
    value: place,
    rule: "must be an existing folder, a SQLite file or a postgres:// URL",
    remedy: "pass the place that your program stores its sessions in",
    cause: found.kind === "missing" ? found.cause : undefined,
  });
}
