import type { TokenUsage } from "../usage.ts";
import { defaultPrices } from "./default-prices.ts";
import {
  findModelPrice,
  MIN_CONTAINER_MINUTES,
  type PricedCall,
  priceCalls,
  priceContainers,
  priceTokens,
  sumParts,
} from "./estimate-cost.ts";
import type { ModelPrice, PriceTable } from "./price-table.ts";

/** Containers that are paid for by their time. */
export interface PricedContainers {
  /** The ids of containers besides those of hosted calls. @default none */
  readonly containerIds?: readonly string[] | undefined;
  /** The memory tier of all containers. @default the first of the price table */
  readonly containerTier?: string | undefined;
}

/** The part of a turn that decides its cost. */
export interface PricedTurn extends PricedContainers {
  readonly usage: TokenUsage;
  readonly hostedCalls: readonly PricedCall[];
  /** The provider's figure, for this turn and the turns before it that have none. @default unknown */
  readonly costUsd?: number | undefined;
  /** The model that the provider reports. */
  readonly model: string | null;
}

/** When a turn was sent and answered, in milliseconds. */
export interface TurnTimes {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Options of a {@link CostMeter}. */
export interface CostMeterOptions {
  /** The model as the caller names it. @default the model that each turn reports */
  readonly model?: string | undefined;
  /** @default defaultPrices */
  readonly prices?: PriceTable | undefined;
}

/**
 * Adds up the cost of an evaluation: the provider's figures, and estimates where there are none. A figure covers the
 * turns before it that had none, because the Claude Agent SDK reports one per run. The work per turn does not depend
 * on earlier turns.
 */
export class CostMeter {
  readonly #model: string | undefined;
  readonly #prices: PriceTable;
  /** Since when each container is paid for, and for how long; `null` before the first one. */
  #containers: Map<string, ContainerMinutes> | null = null;
  /** Costs that the provider has reported, or that earlier processes have counted. */
  #reported = 0;
  /** Estimates since the provider's last figure. */
  #estimated = 0;
  #isKnown = false;
  /** The last model that a turn reported. */
  #reportedModel: string | null = null;
  /** The sum of the costs that `add` has returned. */
  #attributed = 0;

  constructor({ model, prices = defaultPrices }: CostMeterOptions = {}) {
    this.#model = model;
    this.#prices = prices;
  }

  /** The date of the prices. */
  get date(): string {
    return this.#prices.date;
  }

  /** The cost so far in US dollars, or `null` if nothing is known. */
  get total(): number | null {
    return this.#isKnown ? this.#reported + this.#estimated : null;
  }

  /**
   * Adds a turn and returns its cost, or `null` if that is unknown. The costs of all turns add up to `total`, unless
   * the provider's figure is below the estimates for the turns that it covers.
   */
  add(turn: PricedTurn, times: TurnTimes): number | null {
    if (turn.costUsd !== undefined) {
      this.#reported += turn.costUsd;
      this.#estimated = 0;
    } else {
      const estimate = this.#estimate(turn, times);
      if (estimate === null) return null;
      this.#estimated += estimate;
    }
    this.#isKnown = true;
    return this.#attribute();
  }

  /**
   * Adds tokens and containers that were used outside of turns until `endedAt`, in milliseconds. Returns their cost, or
   * `null` if that is unknown.
   */
  addUsage(usage: TokenUsage, containers: PricedContainers = {}, endedAt = 0): number | null {
    const { containerIds, containerTier } = containers;
    if (usage.totalTokens === 0 && !containerIds) return 0;
    const price = this.#findPrice(this.#reportedModel);
    if (!price) return null;
    this.#estimated += sumParts(priceTokens(usage, price));
    if (containerIds) {
      const used = { hostedCalls: [], containerIds, containerTier };
      const times = { startedAt: endedAt, endedAt };
      this.#estimated += sumParts(this.#priceContainers(used, times));
    }
    this.#isKnown = true;
    return this.#attribute();
  }

  /** Adds a turn of an earlier process. */
  addEarlier({ costUsd, ...turn }: PricedTurn): void {
    const cost = costUsd ?? this.#estimate(turn, { startedAt: 0, endedAt: 0 });
    this.#containers = null; // their times are not known
    if (cost !== null) this.raise(this.#reported + cost);
  }

  /** Sets the cost of earlier processes, unless more is known already. */
  raise(total: number): void {
    this.#reported = Math.max(this.#reported, total);
    this.#attributed = this.#reported;
    this.#isKnown = true;
  }

  #attribute(): number {
    const cost = Math.max(0, this.#reported + this.#estimated - this.#attributed);
    this.#attributed += cost;
    return cost;
  }

  #estimate(turn: Omit<PricedTurn, "costUsd">, times: TurnTimes): number | null {
    this.#reportedModel = turn.model ?? this.#reportedModel;
    const price = this.#findPrice(this.#reportedModel);
    if (!price) return null;
    const tokens = priceTokens(turn.usage, price);
    if (turn.hostedCalls.length === 0 && !turn.containerIds) return sumParts(tokens);
    const calls = priceCalls(turn.hostedCalls, this.#prices);
    return sumParts([...tokens, ...calls, ...this.#priceContainers(turn, times)]);
  }

  /** Charges the minutes of the turn's containers that are not charged yet. */
  #priceContainers(
    { hostedCalls, containerIds = [], containerTier: tier }: UsedContainers,
    { startedAt, endedAt }: TurnTimes,
  ) {
    this.#containers ??= new Map();
    const paid = this.#containers;
    const ids = new Set([...containerIds, ...hostedCalls.map(({ containerId }) => containerId)]);
    const times = [...ids].flatMap((id) => {
      if (id === undefined) return [];
      const { since, minutes: charged } = paid.get(id) ?? {
        since: startedAt,
        minutes: 0,
      };
      const minutes = Math.max(MIN_CONTAINER_MINUTES, Math.ceil((endedAt - since) / 60_000));
      paid.set(id, { since, minutes });
      return [{ tier, minutes: minutes - charged }];
    });
    return priceContainers(times, this.#prices);
  }

  /** The caller's name for the model may be the only one in the table, or the provider's. */
  #findPrice(reported: string | null): ModelPrice | null {
    const own = this.#model === undefined ? null : findModelPrice(this.#model, this.#prices);
    return own ?? (reported === null ? null : findModelPrice(reported, this.#prices));
  }
}

interface ContainerMinutes {
  readonly since: number;
  readonly minutes: number;
}

type UsedContainers = PricedContainers & Pick<PricedTurn, "hostedCalls">;
