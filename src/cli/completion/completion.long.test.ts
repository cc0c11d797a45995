import { describe, expect, test } from "vitest";
import { completeLine } from "../../../tests/support/cli/complete-line.ts";
import { hasShell } from "../../../tests/support/cli/has-shell.ts";
import { silentActions } from "../../../tests/support/cli/silent-actions.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { createProgram } from "../create-program.ts";
import { describeCommand, listCommands } from "./describe-command.ts";
import { formatCompletion } from "./format-completion.ts";

describe.each(["bash", "zsh", "fish"] as const)("wink completion %s", (shell) => {
  test.skipIf(!hasShell(shell))(
    "completes every command and every option",
    () => {
      const program = createProgram("0.0.0", silentActions);
      const opened = { shell, script: formatCompletion(program, shell), folder: temporaryTree() };
      for (const { path, commands, options } of listCommands(describeCommand(program))) {
        const names = commands.map(({ name }) => name).sort();
        if (names.length > 0) expect(completeLine(opened, `${path} `)).toEqual(names);
        const long = options.flatMap(({ flags }) => flags).filter((flag) => flag.startsWith("--"));
        expect(completeLine(opened, `${path} --`), path).toEqual(long.sort());
      }
    },
    300_000,
  );
});
