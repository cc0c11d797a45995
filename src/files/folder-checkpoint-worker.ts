import { type RestoredTree, type RestoreTask, restoreTree } from "./restore-tree.ts";
import { type TakeTask, takeTree } from "./take-tree.ts";
import { answerTask } from "./thread-answer.ts";

answerTask((task: TakeTask | RestoreTask): Uint8Array | RestoredTree =>
  task.type === "take" ? takeTree(task) : restoreTree(task),
);
