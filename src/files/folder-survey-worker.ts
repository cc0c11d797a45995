import { surveyFiles } from "./survey-files.ts";
import { answerTask } from "./thread-answer.ts";

answerTask(surveyFiles);
