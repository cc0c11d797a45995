/** Fields that every event of an evaluation has. */
export interface EventStamp {
  /** Id of the session. */
  readonly sessionId: string;
  /** Name of the evaluated prompt. */
  readonly promptName: string;
  /** Name of the adapter, such as `"openai"`. */
  readonly adapter: string;
  /** When the event was created, in ISO 8601. */
  readonly createdAt: string;
  /** Set if a tool handler started the evaluation. */
  readonly nested?: true;
}
