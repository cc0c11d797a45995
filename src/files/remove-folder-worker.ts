import { removeTree } from "./remove-tree.ts";
import { answerTask } from "./thread-answer.ts";

answerTask(removeTree);
