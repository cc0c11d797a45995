import { answerTask } from "./thread-answer.ts";
import { unpackFiles } from "./unpack-files.ts";

answerTask(unpackFiles);
