import type { WireItem } from "../../openai/wire.ts";
import type { CreateEvent } from "./client-event.ts";
import type { SteerEvent } from "./steer-event.ts";

/** Accepted steering input. */
export interface Steer extends SteerEvent {
  readonly id: string;
  readonly items: readonly WireItem[];
  readonly bytes: number;
}

/** A request whose input may begin with steering input. */
export interface SteeredRequest extends CreateEvent {
  readonly bytes: number;
  /** The steering input at the beginning of the request's input. */
  readonly steers: readonly Steer[];
  /** Whether the server created the request for the steering input. */
  readonly isAutomatic: boolean;
}
