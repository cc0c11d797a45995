import { stopOn } from "../../../src/fleet/stop-on.ts";

// Prints when it listens, and why it stops. Runs until it is killed, unless its argument is "idle".
const signal = stopOn("SIGTERM", "SIGINT");
signal.addEventListener("abort", () => process.stdout.write(`${signal.reason.message}\n`));
if (process.argv[2] !== "idle") setInterval(() => {}, 1_000);
process.stdout.write("ready\n");
