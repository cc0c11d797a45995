/** Returns the `README.md` of a new project. */
export function createReadme(name: string): string {
  return `# ${name}

An agent that decides how many loaves of bread to bake, written with
[weakincentives](node_modules/weakincentives/README.md). You need Node 22.19 or later.

\`\`\`sh
npm install
npm test
npm run start:local
\`\`\`

No key is needed: the tests and \`start:local\` run on a local provider, and a script plays the model
(\`turns.json\`). To ask a real model, write \`OPENAI_API_KEY=…\` into \`.env\`, which git ignores:

\`\`\`sh
npm start
npm start -- wheat
\`\`\`

## Files

| file | contents |
| --- | --- |
| \`agent.mts\` | the agent: instructions, a tool, the form of the answer |
| \`main.mts\` | the program that runs it, with a deadline, a budget and a stored session |
| \`agent.test.mts\` | its tests |
| \`turns.json\` | the turns of the model for \`npm run start:local\` |
| \`.github/workflows/ci.yml\` | CI: type check and tests. Commit \`package-lock.json\`, from which it installs |

\`npm run types\` checks the types. Node runs the files without checking them.

## Runs

Every run is stored in \`sessions/\`:

\`\`\`sh
npx wink sessions ls --store sessions
npx wink inspect sessions
\`\`\`

## Next

- [Writing a tool](node_modules/weakincentives/docs/guides/tools.md)
- [Prompts](node_modules/weakincentives/docs/guides/prompts.md)
- [Testing](node_modules/weakincentives/docs/guides/testing.md)
- [Budgets, deadlines, cancellation](node_modules/weakincentives/docs/guides/budgets.md)
- [After a crash](node_modules/weakincentives/docs/guides/after-a-crash.md)
`;
}
