import { CHILDREN_PROGRAM } from "./children-program.ts";
import { DISK_PROGRAM } from "./disk-program.ts";
import { KERNEL_PROGRAM } from "./kernel-program.ts";
import { LOOP_PROGRAM } from "./loop-program.ts";
import { MEMORY_PROGRAM } from "./memory-program.ts";
import { METER_PROGRAM } from "./meter-program.ts";
import { PROCESSES_PROGRAM } from "./processes-program.ts";
import { SUPERVISOR_PROGRAM } from "./supervisor-program.ts";

/** The whole program that runs inside before a model's code, for `python3 -c`. Its argument is `SupervisorSettings` as JSON. */
export const SANDBOX_PROGRAM: string = [
  SUPERVISOR_PROGRAM,
  PROCESSES_PROGRAM,
  MEMORY_PROGRAM,
  DISK_PROGRAM,
  METER_PROGRAM,
  KERNEL_PROGRAM,
  CHILDREN_PROGRAM,
  LOOP_PROGRAM,
].join("\n");
