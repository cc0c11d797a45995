import { runInThread } from "../../host/threads/run-in-thread.ts";
import { digestFolder, digestFolderJob, type FolderDigest } from "./folder-digest.ts";

/** Computes the digests of a folder that other processes may have changed, in a thread. Never throws. */
export async function digestFolderInThread(folder: string): Promise<FolderDigest> {
  try {
    return await runInThread(digestFolderJob, folder, {
      job: "hashes the folder",
      remedy: "hash it again",
    });
  } catch {
    return digestFolder(folder); // blocks the event loop, but works where no thread can start
  }
}
