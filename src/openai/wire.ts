/**
 * Types of the Responses API's JSON, in snake_case. They cover only the fields that the adapter
 * writes or the local provider returns. Data that is read has the type `WireItem`: any field may be
 * missing or have an unexpected type.
 */

/** One entry of `input` or `output`. Received items are sent back unchanged. */
export type WireItem = Readonly<Record<string, unknown>>;

/** One entry of a request's `tools`. */
export type WireTool =
  | WireFunction
  | WireWebSearch
  | WireFileSearch
  | WireCodeInterpreter
  | WireShell
  | WireApplyPatch
  | WireImageGeneration
  | WireMcp
  | {
      /** The tool's type; custom codecs may add other fields. */
      readonly type: string;
    };

export interface WireFunction {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  readonly strict: boolean;
}

export interface WireWebSearch {
  readonly type: "web_search";
  readonly filters?: {
    readonly allowed_domains?: readonly string[];
    readonly blocked_domains?: readonly string[];
  };
  readonly user_location?: {
    readonly type: "approximate";
    readonly country?: string;
    readonly city?: string;
    readonly region?: string;
    readonly timezone?: string;
  };
  readonly search_context_size?: "low" | "medium" | "high";
  readonly external_web_access?: boolean;
}

export interface WireFileSearch {
  readonly type: "file_search";
  readonly vector_store_ids: readonly string[];
  readonly max_num_results?: number;
  readonly filters?: WireFilter;
  readonly ranking_options?: {
    readonly ranker?: "auto" | "default-2024-11-15";
    readonly score_threshold?: number;
    readonly hybrid_search?: { readonly embedding_weight: number; readonly text_weight: number };
  };
}

export type WireFilter =
  | {
      readonly type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin";
      readonly key: string;
      readonly value: string | number | boolean | readonly (string | number)[];
    }
  | { readonly type: "and" | "or"; readonly filters: readonly WireFilter[] };

export interface WireCodeInterpreter {
  readonly type: "code_interpreter";
  readonly container: string | ({ readonly type: "auto" } & WireContainerOptions);
}

export interface WireContainerOptions {
  readonly memory_limit?: "1g" | "4g" | "16g" | "64g";
  readonly file_ids?: readonly string[];
  readonly network_policy?: WireNetworkPolicy;
}

export type WireNetworkPolicy =
  | { readonly type: "disabled" }
  | {
      readonly type: "allowlist";
      readonly allowed_domains: readonly string[];
      readonly domain_secrets?: readonly {
        readonly domain: string;
        readonly name: string;
        readonly value: string;
      }[];
    };

export interface WireShell {
  readonly type: "shell";
  readonly environment:
    | ({ readonly type: "container_auto" } & WireContainerOptions)
    | { readonly type: "container_reference"; readonly container_id: string }
    | { readonly type: "local" };
}

export interface WireApplyPatch {
  readonly type: "apply_patch";
}

export interface WireImageGeneration {
  readonly type: "image_generation";
  readonly action?: "generate" | "edit" | "auto";
  readonly model?: string;
  readonly quality?: "low" | "medium" | "high" | "auto";
  readonly size?: string;
  readonly output_format?: "png" | "webp" | "jpeg" | "gif" | "svg";
  readonly output_compression?: number;
  readonly background?: "transparent" | "opaque" | "auto";
  readonly input_fidelity?: "high" | "low";
  readonly input_image_mask?: { readonly file_id?: string; readonly image_url?: string };
  readonly moderation?: "auto" | "low";
  readonly partial_images?: number;
}

export interface WireMcp {
  readonly type: "mcp";
  readonly server_label: string;
  readonly server_url: string;
  readonly server_description?: string;
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly allowed_tools?: readonly string[] | WireMcpFilter;
  readonly require_approval?:
    | "always"
    | "never"
    | { readonly always?: WireMcpFilter; readonly never?: WireMcpFilter };
}

export interface WireMcpFilter {
  readonly tool_names?: readonly string[];
  readonly read_only?: boolean;
}

/** A request's `tool_choice`. */
export type WireToolChoice =
  | "auto"
  | "none"
  | "required"
  | { readonly type: "function"; readonly name: string }
  | {
      readonly type: "allowed_tools";
      readonly mode: "auto" | "required";
      readonly tools: readonly object[];
    }
  | { readonly type: string };

/** A message to the model: the prompt, feedback, or an attachment. */
export interface WireMessage {
  readonly type: "message";
  readonly role: "system" | "developer" | "user";
  readonly content: string | readonly WireContent[];
}

export type WireContent =
  | { readonly type: "input_text"; readonly text: string }
  | { readonly type: "input_file"; readonly file_id: string }
  | { readonly type: "input_file"; readonly filename: string; readonly file_data: string }
  | { readonly type: "input_image"; readonly detail: "auto"; readonly image_url: string };

/** The output of a tool that ran locally. */
export type WireOutput =
  | { readonly type: "function_call_output"; readonly call_id: string; readonly output: string }
  | {
      readonly type: "shell_call_output";
      readonly call_id: string;
      readonly max_output_length?: number;
      readonly output: readonly WireShellOutput[];
    }
  | {
      readonly type: "apply_patch_call_output";
      readonly call_id: string;
      readonly status: "completed" | "failed";
      readonly output?: string;
    }
  | {
      readonly type: "mcp_approval_response";
      readonly approval_request_id: string;
      readonly approve: boolean;
      readonly reason?: string;
    };

export interface WireShellOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome:
    | { readonly type: "exit"; readonly exit_code: number }
    | { readonly type: "timeout" };
}

/** The body of a request, without its `input`. */
export interface WireRequest {
  readonly model: string;
  readonly tools?: readonly WireTool[];
  readonly tool_choice?: WireToolChoice;
  readonly parallel_tool_calls?: boolean;
  readonly max_tool_calls?: number;
  readonly max_output_tokens?: number;
  readonly include?: readonly string[];
  readonly store?: boolean;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly reasoning?: Readonly<Record<string, unknown>>;
  readonly text?: { readonly format?: WireFormat; readonly verbosity?: "low" | "medium" | "high" };
  readonly user?: string;
  readonly safety_identifier?: string;
  readonly prompt_cache_key?: string;
  readonly service_tier?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface WireFormat {
  readonly type: "json_schema";
  readonly name: string;
  readonly schema: Record<string, unknown>;
  readonly strict: boolean;
}
