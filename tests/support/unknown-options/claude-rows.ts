import * as claude from "weakincentives/claude";
import { evaluateUntilAborted, type Row, session } from "./row.ts";

/** `weakincentives/claude`. */
export const claudeRows: readonly Row[] = [
  ["ClaudeAgentSDKAdapter", "modle", "model", (o) => new claude.ClaudeAgentSDKAdapter(o)],
  [
    "ClaudeAgentSDKAdapter.modelConfig",
    "efort",
    "effort",
    (o) => new claude.ClaudeAgentSDKAdapter({ modelConfig: o }),
  ],
  [
    "ClaudeAgentSDKAdapter.hostedTools",
    "websearch",
    "webSearch",
    (o) => new claude.ClaudeAgentSDKAdapter({ hostedTools: o }),
  ],
  [
    "isolation",
    "includeHostEnvs",
    "includeHostEnv",
    (o) => new claude.ClaudeAgentSDKAdapter({ isolation: o }),
  ],
  [
    "isolation.sandbox",
    "enable",
    "enabled",
    (o) => new claude.ClaudeAgentSDKAdapter({ isolation: { sandbox: o } }),
  ],
  [
    "evaluate(options)",
    "maxTurn",
    "maxTurns",
    (o) => evaluateUntilAborted(new claude.ClaudeAgentSDKAdapter(), o),
  ],
  [
    "ClaudeAgentWorkspaceSection",
    "mount",
    "mounts",
    (o) => new claude.ClaudeAgentWorkspaceSection({ session, ...Object(o) }),
  ],
  [
    "ClaudeAgentWorkspaceSection",
    "titel",
    "title",
    (o) => new claude.ClaudeAgentWorkspaceSection({ session }).clone(o),
  ],
];
