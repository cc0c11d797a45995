import { writeTarFile } from "./tar-file.ts";
import { answerTask } from "./thread-answer.ts";

answerTask(writeTarFile);
