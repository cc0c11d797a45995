import { takeOver } from "./take-over.ts";
import { answerTask } from "./thread-answer.ts";

answerTask(takeOver);
