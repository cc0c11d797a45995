import { runInThread } from "../../host/threads/run-in-thread.ts";
import { type FolderSurvey, surveyFiles, surveyFilesJob } from "./survey-files.ts";

/** What is in a folder that others have worked in; made by a thread. Throws nothing. */
export async function surveyFolder(folder: string): Promise<FolderSurvey> {
  try {
    return await runInThread(surveyFilesJob, folder, {
      job: "surveys a folder",
      remedy: "survey it again",
    });
  } catch {
    return surveyFiles(folder); // everybody waits, but where no thread starts nothing is lost either
  }
}
