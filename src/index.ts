/**
 * Prompts made of sections, typed tools, sessions, events, and the loop that runs them.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */

// Prompts

export { jsonSchema } from "./base/schema/json-schema.ts";
export type { Infer, JsonSchema, Schema } from "./base/schema/schema.ts";
export type { Attachment } from "./prompt/attachment.ts";
export { type DefinePromptOptions, definePrompt } from "./prompt/define-prompt.ts";
export type { FeedbackProvider } from "./prompt/feedback.ts";
export type { InputPart } from "./prompt/input.ts";
export type { MessageRole } from "./prompt/message-role.ts";
export type { OutputContract } from "./prompt/output-contract.ts";
export { LocalOverridesStore } from "./prompt/overrides/local-overrides-store.ts";
export type {
  Overrides,
  OverridesStore,
  SectionOverride,
  SkippedOverride,
  ToolOverride,
} from "./prompt/overrides/overrides.ts";
export type { ParamsOf } from "./prompt/params.ts";
export { type EvaluablePrompt, Prompt, type PromptOptions } from "./prompt/prompt.ts";
export type {
  PromptDescriptor,
  SectionDescriptor,
  ToolDescriptor,
} from "./prompt/prompt-descriptor.ts";
export type {
  NativeToolEnvelope,
  PromptMessage,
  RenderedPrompt,
} from "./prompt/rendered-prompt.ts";
export { type PrepareContext, Section, type SectionOptions } from "./prompt/section.ts";
export {
  MarkdownSection,
  type MarkdownSectionOptions,
} from "./prompt/sections/markdown-section.ts";
export type { FilesSection, WorkspaceSection } from "./prompt/sections/mounted-section.ts";
export {
  VfsToolsSection,
  type VfsToolsSectionOptions,
} from "./prompt/sections/vfs-tools-section.ts";
export {
  WebSearchSection,
  type WebSearchSectionOptions,
} from "./prompt/sections/web-search-section.ts";
export type { WorkspaceSectionOptions } from "./prompt/sections/workspace-options.ts";
export type { WorkspaceManifest } from "./prompt/sections/workspace-slice.ts";
export { PromptTemplate, type PromptTemplateOptions } from "./prompt/template.ts";
export {
  type Visibility,
  type VisibilityChanged,
  type VisibilityState,
  visibilitySlice,
} from "./prompt/visibility.ts";

// Tools

export { HostedTool, type HostedToolOptions } from "./tools/hosted-tool.ts";
export { NativeTool, type NativeToolOptions } from "./tools/native-tool.ts";
export type { PolicyCall, ToolPolicy } from "./tools/policy.ts";
export { ProviderTool, type ProviderToolOptions } from "./tools/provider-tool.ts";
export { type ReadBeforeWriteOptions, readBeforeWrite } from "./tools/read-before-write.ts";
export {
  type ResourceKey,
  ResourceRegistry,
  type ResourceScope,
  type Resources,
  resource,
  UnboundResourceError,
} from "./tools/resources.ts";
export {
  type SequentialDependencyOptions,
  sequentialDependency,
} from "./tools/sequential-dependency.ts";
export { Tool, type ToolOptions, type ToolRenderer } from "./tools/tool.ts";
export type {
  NeedsApproval,
  ToolContext,
  ToolEffects,
  ToolHandler,
  ToolReconciler,
} from "./tools/tool-context.ts";
export type { ToolExample } from "./tools/tool-example.ts";
export { ToolResult } from "./tools/tool-result.ts";

// Hosted tools

export {
  type ApplyPatchCall,
  type ApplyPatchConfig,
  type ApplyPatchResult,
  type ApplyPatchToolOptions,
  applyPatchTool,
} from "./tools/hosted/apply-patch.ts";
export type {
  Citation,
  CitationSpan,
  ContainerFileCitation,
  FileCitation,
  UrlCitation,
} from "./tools/hosted/citation.ts";
export {
  type AutoContainerConfig,
  type CodeInterpreterCall,
  type CodeInterpreterConfig,
  type CodeInterpreterResult,
  type ContainerOptions,
  codeInterpreterTool,
  type ExistingContainerRef,
  type MemoryLimit,
} from "./tools/hosted/code-interpreter.ts";
export {
  type ComparisonFilter,
  type CompoundFilter,
  type FileSearchConfig,
  type FileSearchFilter,
  type FileSearchHit,
  type FileSearchRanking,
  type FileSearchResult,
  fileSearchTool,
  type HybridSearchWeights,
} from "./tools/hosted/file-search.ts";
export {
  type GeneratedImage,
  type ImageGenerationConfig,
  type ImageGenerationResult,
  type ImageMask,
  type ImageSize,
  imageGenerationTool,
} from "./tools/hosted/image-generation.ts";
export {
  type McpApprovalRequest,
  type McpApprovalRules,
  type McpApprover,
  type McpCall,
  type McpConfig,
  type McpListedTool,
  type McpResult,
  type McpToolFilter,
  type McpToolOptions,
  mcpTool,
} from "./tools/hosted/mcp.ts";
export type {
  NetworkAllowlist,
  NetworkDisabled,
  NetworkPolicy,
} from "./tools/hosted/network-policy.ts";
export {
  type ContainerEnvironment,
  type LocalEnvironment,
  type ShellCall,
  type ShellConfig,
  type ShellExecutor,
  type ShellOutcome,
  type ShellOutput,
  type ShellResult,
  type ShellRunOptions,
  type ShellToolOptions,
  shellTool,
} from "./tools/hosted/shell.ts";
export {
  type DomainFilter,
  type GeoHint,
  type WebSearchCall,
  type WebSearchConfig,
  type WebSearchResult,
  webSearchTool,
} from "./tools/hosted/web-search.ts";
export { applyPatch } from "./tools/patch/apply-patch.ts";
export { PatchError } from "./tools/patch/patch-error.ts";
export type { PatchOperation } from "./tools/patch/patch-operation.ts";
export type { PatchReport } from "./tools/patch/run-patch.ts";

// Session and events

export type {
  ContainerReplaced,
  DataHeld,
  UnpackingFailed,
  WorkspaceSynced,
} from "./adapter/container-replaced.ts";
export type {
  CompactionBackoff,
  CompactionChange,
  CompactionDiscarded,
  CompactionFailed,
  CompactionKept,
  CompactionMeasured,
  ContextCompacted,
} from "./adapter/context-compacted.ts";
export type {
  DataReleased,
  EvaluationStarted,
  ToolStarted,
  TurnResubmitted,
  TurnSubmitted,
  WorkspaceKept,
  WorkspaceProgressed,
} from "./adapter/durable-events.ts";
export type { EgressReported } from "./adapter/egress/egress-reported.ts";
export type { EventStamp } from "./adapter/event-stamp.ts";
export type {
  DroppedItem,
  HistoryAdvanced,
  HistoryRepaired,
  HostedOrigin,
  HostedToolOmitted,
  OverrideSkipped,
  PromptExecuted,
  PromptFailed,
  PromptRendered,
  RejectedToolParams,
  ToolInvoked,
  TurnCompleted,
  TurnProgressed,
  TurnStarted,
} from "./adapter/events.ts";
export { promptLog, toolLog } from "./adapter/log-slices.ts";
export { defineSlice, type Reducers, type SliceOptions } from "./session/define-slice.ts";
export {
  type EventBus,
  InProcessEventBus,
  type InProcessEventBusOptions,
  nullEventBus,
} from "./session/event-bus.ts";
export type {
  BusEvent,
  EventMap,
  EventOf,
  EventType,
  ReducerFailed,
  SessionStoringFailed,
} from "./session/event-map.ts";
export { Session, type SessionOptions } from "./session/session.ts";
export {
  type ClaimOptions,
  type ReadOptions,
  type RecordWriter,
  type SessionClaim,
  type SessionStore,
  SessionStoreError,
  type SessionStoreErrorOptions,
} from "./session/session-store.ts";
export type { Slice, SlicePolicy } from "./session/slice.ts";
export type { Snapshot } from "./session/snapshot.ts";
export { SnapshotError, SnapshotRestoreError } from "./session/snapshot-errors.ts";

// Adapters

export type {
  ApprovalDecision,
  ApprovalRequest,
  Approver,
} from "./adapter/approvals/approval-request.ts";
export { EvaluationParkedError } from "./adapter/approvals/evaluation-parked-error.ts";
export type { EgressFile, EgressReport, EgressRequest } from "./adapter/egress/egress-report.ts";
export type {
  DeepPartial,
  EvaluationStream,
  StreamEvent,
  StreamResponseInit,
} from "./adapter/evaluation-stream.ts";
export type { LoopOptions } from "./adapter/loop-options.ts";
export type {
  AllowedTools,
  ChosenTool,
  DelegatedCall,
  FinishedConversation,
  FinishReason,
  HistoryStep,
  HostedCall,
  HostedOutcome,
  ModelClient,
  Omission,
  ResumedTurn,
  ToolAnswer,
  ToolCall,
  ToolChoice,
  Turn,
  TurnRequest,
} from "./adapter/model-client.ts";
export { evaluate } from "./adapter/on-demand/evaluate.ts";
export type { HostedOutputs, PromptResponse } from "./adapter/prompt-response.ts";
export type { EvaluateOptions, ProviderAdapter } from "./adapter/provider-adapter.ts";
export {
  type Standing,
  type StandingEvaluation,
  standingSlice,
} from "./adapter/resume/standing.ts";
export { streamEvaluation } from "./adapter/stream/stream-evaluation.ts";
export { StreamReadError } from "./adapter/stream/stream-read-error.ts";
export type { ThrottlePolicy } from "./adapter/throttle.ts";
export type { ResponsePart, TurnObserver } from "./adapter/turn-observer.ts";
export { Budget, type BudgetOptions, BudgetTracker } from "./base/budget.ts";
export { type Clock, type SleepOptions, systemClock } from "./base/clock.ts";
export { defaultPrices } from "./base/costs/default-prices.ts";
export {
  type ContainerTime,
  type CostEstimate,
  type CostPart,
  type EstimateCostOptions,
  estimateCost,
  type PricedCall,
} from "./base/costs/estimate-cost.ts";
export type { ModelPrice, PriceTable } from "./base/costs/price-table.ts";
export { Deadline } from "./base/deadline.ts";
export type { Logger } from "./base/logger.ts";
export type { TokenUsage } from "./base/usage.ts";

// Errors

export {
  InvalidOptionError,
  OutputParseError,
  PromptRenderError,
  PromptValidationError,
} from "./base/errors.ts";
export {
  type BudgetDimension,
  BudgetExceededError,
  type BudgetExcess,
  DeadlineExceededError,
  type EvaluationErrorDetails,
  type EvaluationPhase,
  type PartialResponse,
  PromptEvaluationError,
  ThrottleError,
  type ThrottleErrorDetails,
  type ThrottleKind,
} from "./base/evaluation-errors.ts";
export { WinkError } from "./base/wink-error.ts";
