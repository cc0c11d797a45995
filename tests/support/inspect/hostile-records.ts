/** Markup, scripts and links that a page must show as text. */
export const HOSTILE = `<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script><a href="javascript:window.hacked = 1">x</a></pre></script>\u202e\u0000{{constructor.constructor('window.hacked = 1')()}}`;

const FIELDS = [
  ...[
    "promptName",
    "adapter",
    "text",
    "name",
    "callId",
    "message",
    "errorName",
    "reason",
    "model",
    "requestId",
  ],
  ...[
    "responseId",
    "finishReason",
    "stopReason",
    "directory",
    "containerId",
    "replacedBy",
    "strategy",
    "input",
  ],
  ...["renderedOutput", "until", "of", "path", "tool", "server", "sliceId", "eventType", "owner"],
];

const TYPES = [
  ...[
    "HostedToolOmitted",
    "PromptRendered",
    "EvaluationStarted",
    "TurnCompleted",
    "ToolInvoked",
    "HistoryRepaired",
  ],
  ...[
    "ContainerReplaced",
    "UnpackingFailed",
    "WorkspaceKept",
    "ContextCompacted",
    "CompactionKept",
    "DataHeld",
  ],
  ...[
    "OverrideSkipped",
    "VisibilityChanged",
    "McpToolOmitted",
    "ReducerFailed",
    "SessionStoringFailed",
  ],
  ...["PromptExecuted", "PromptFailed", "WorkspaceSynced", HOSTILE, "__proto__"],
];

/** Creates a session whose events have hostile text in every field. */
export function createHostileRecords(): readonly object[] {
  const texts = Object.fromEntries(FIELDS.map((field) => [field, HOSTILE]));
  const file = { sha256: HOSTILE, bytes: 3, mode: 420 };
  const nested = {
    toolCalls: [
      { name: HOSTILE, callId: HOSTILE, arguments: JSON.stringify({ [HOSTILE]: HOSTILE }) },
    ],
    hostedCalls: [
      {
        name: HOSTILE,
        kind: HOSTILE,
        callId: "h",
        params: { code: `${HOSTILE}\n${HOSTILE}`, diff: `@@\n-${HOSTILE}\n+${HOSTILE}` },
      },
    ],
    params: { [HOSTILE]: HOSTILE, code: `${HOSTILE}\nx`, diff: `@@\n+${HOSTILE}` },
    result: {
      success: false,
      message: HOSTILE,
      value: { [HOSTILE]: [HOSTILE, JSON.parse('{"__proto__": 1}')] },
    },
    origin: { execution: "provider", provider: HOSTILE, capability: HOSTILE, containerId: HOSTILE },
    citations: [{ type: "url", span: [0, 5], url: `javascript:window.hacked = 1`, title: HOSTILE }],
    messages: [{ role: HOSTILE, text: `# ${HOSTILE}\n${HOSTILE}\n## ${HOSTILE}` }],
    tools: [{ name: HOSTILE, description: HOSTILE, params: { [HOSTILE]: HOSTILE } }],
    hostedTools: [{ name: HOSTILE, kind: HOSTILE }],
    dropped: [{ type: HOSTILE, id: HOSTILE }],
    lost: [HOSTILE],
    added: [HOSTILE],
    changed: [HOSTILE],
    deleted: [HOSTILE],
    failed: [{ path: HOSTILE, reason: HOSTILE }],
    manifest: {
      section: HOSTILE,
      isComplete: true,
      deleted: [HOSTILE],
      files: { [HOSTILE]: file },
      mounted: { files: {} },
    },
    egress: {
      verdict: HOSTILE,
      requests: [
        {
          endpoint: HOSTILE,
          bytes: 3,
          stored: true,
          files: [{ mount: HOSTILE, path: HOSTILE }],
          toolOutputs: [HOSTILE],
        },
      ],
    },
    usage: { inputTokens: HOSTILE, totalTokens: 1e308 },
  };
  const header = { kind: "session", id: HOSTILE, createdAt: HOSTILE, tags: { [HOSTILE]: HOSTILE } };
  const events = TYPES.map((type) => ({ kind: "event", event: { ...texts, ...nested, type } }));
  const rollback = { kind: "restored", to: 1 };
  return [header, ...events, rollback, { kind: "loaded", states: { [HOSTILE]: HOSTILE } }];
}
