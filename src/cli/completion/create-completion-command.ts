import { Argument, Command } from "commander";
import type { Shell } from "./format-completion.ts";

const SHELLS: readonly Shell[] = ["bash", "zsh", "fish"];

/** Creates `wink completion`. */
export function createCompletionCommand(): Command {
  return new Command("completion")
    .description("print a script that completes wink in bash, zsh or fish")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .addHelpText(
      "after",
      '\nExamples:\n  wink completion bash\n  wink completion fish > ~/.config/fish/completions/wink.fish\n\nAdd one of these lines to the file that your shell reads when it starts:\n  ~/.bashrc                   eval "$(wink completion bash)"\n  ~/.zshrc, after compinit    eval "$(wink completion zsh)"\n  ~/.config/fish/config.fish  wink completion fish | source\n\nThe script completes wink and weakincentives: commands, options, their values and paths. It does not run wink.',
    )
    .action(async (shell: Shell, _flags: object, command: Command) => {
      const { formatCompletion } = await import("./format-completion.ts");
      process.stdout.write(formatCompletion(command.parent ?? command, shell));
    });
}
