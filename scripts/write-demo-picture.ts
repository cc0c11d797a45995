/** Runs `wink demo` and writes docs/demo.svg, the picture in the README. A test compares them. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createDemoPicture } from "./picture/create-demo-picture.ts";

const output = execFileSync(process.execPath, ["src/cli/main.ts", "demo"], { encoding: "utf8" });
writeFileSync("docs/demo.svg", createDemoPicture(output));
