/** Writes `examples/README.md`, the index of the examples: `npm run examples:index`. */
import { writeFileSync } from "node:fs";
import { listExamples } from "./examples/list-examples.ts";
import { renderExamplesIndex } from "./examples/render-examples-index.ts";

writeFileSync("examples/README.md", renderExamplesIndex(listExamples(process.cwd())));
