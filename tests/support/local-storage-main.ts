/** Serves a data folder until it is killed: `node tests/support/local-storage-main.ts FOLDER`. */
import { writeSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { startLocalStorage } from "./local-storage.ts";

const { url } = await startLocalStorage({ dataDir: process.argv[2] ?? "", clock: systemClock });
writeSync(1, `${url}\n`);
