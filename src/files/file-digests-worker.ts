import { hashFiles } from "./hash-files.ts";
import { answerTask } from "./thread-answer.ts";

answerTask(hashFiles);
