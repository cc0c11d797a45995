/** The environment of a measured process. It turns off logs, traces and usage reports, and has no other variables of the caller. */
export const clientEnvironment: Readonly<NodeJS.ProcessEnv> = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  NODE_ENV: "production",
  OPENAI_API_KEY: "sk-stub",
  OPENAI_AGENTS_DISABLE_TRACING: "1",
  LANGSMITH_TRACING: "false",
  LANGCHAIN_TRACING_V2: "false",
  MASTRA_TELEMETRY_DISABLED: "1",
  DO_NOT_TRACK: "1",
  AI_SDK_LOG_WARNINGS: "false",
};
