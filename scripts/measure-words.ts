/**
 * Measures names, wording and comments: `npm run measure:words`. `--json` prints the rows as JSON, `--where`
 * the files behind each number. Exits with 1 if a target is missed.
 */
import { parseArgs } from "node:util";
import { isMissed, printRows } from "./measure-row.ts";
import { findPublicMembers } from "./words/public-members.ts";
import { openProject } from "./words/typescript-project.ts";
import { measureDialect, measureDocs, measureNames } from "./words/word-rows.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    where: { type: "boolean", default: false },
  },
});
using project = openProject(process.cwd());
const rows = [
  ...measureNames(project),
  ...measureDialect(project),
  ...measureDocs(findPublicMembers(project)),
];

if (values.json) console.log(JSON.stringify(rows, null, 2));
else printRows(rows, values.where);
if (rows.some(isMissed)) process.exitCode = 1;
