import { copyFiles } from "./copy-files.ts";
import type { MaterialiseTask } from "./materialise.ts";
import { answerTask } from "./thread-answer.ts";

answerTask(({ order, folder }: MaterialiseTask) => copyFiles(order, folder));
