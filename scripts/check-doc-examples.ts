/** Type-checks the examples in the comments of public names; part of `npm run types`. */
import { checkDocExamples, findDocExamples } from "./words/doc-examples.ts";
import { findPublicMembers } from "./words/public-members.ts";
import { openProject } from "./words/typescript-project.ts";

using project = openProject(process.cwd());
const examples = findDocExamples(findPublicMembers(project));
const problems = checkDocExamples(examples, process.cwd());
if (problems === "") console.log(`${examples.length} examples in comments compile.`);
else {
  console.error(problems);
  process.exitCode = 1;
}
