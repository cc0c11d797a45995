import type { CommandActions } from "../../../src/cli/create-program.ts";

const ignore = async () => {};

/** Actions of `wink` that do nothing and print nothing. */
export const silentActions: CommandActions = {
  demo: ignore,
  doctor: async () => 0,
  fleet: {
    ls: ignore,
    show: ignore,
    cancel: ignore,
    retry: ignore,
    approve: ignore,
    worker: ignore,
    drain: ignore,
  },
  init: ignore,
  run: { program: async () => 0, agent: async () => 0 },
  sessions: { ls: ignore, show: ignore, export: ignore, rm: async () => 0 },
};
