import { type FolderSurvey, surveyFiles } from "./survey-files.ts";
import { runInThread } from "./thread-task.ts";

/** What is in a folder that others have worked in; made by a thread. Throws nothing. */
export async function surveyFolder(folder: string): Promise<FolderSurvey> {
  try {
    return await runInThread<FolderSurvey>("folder-survey-worker", folder, { endedEarly });
  } catch {
    return surveyFiles(folder); // everybody waits, but where no thread starts nothing is lost either
  }
}

/** Nobody sees this one. */
function endedEarly(cause: unknown): Error {
  return new Error("The thread that surveys a folder ended before it was done", { cause });
}
