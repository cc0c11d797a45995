import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../errors.ts";
import { copyAndFreeze, isPlainObject } from "../freeze.ts";

/** Prices of a provider, as data. `defaultPrices` is the package's own table. */
export interface PriceTable {
  /** When the prices were read, such as `"2026-10-27"`. */
  readonly date: string;
  /**
   * Prices by the beginning of the model's name; the longest one that fits is used. `""` fits every
   * model.
   */
  readonly models: Readonly<Record<string, ModelPrice>>;
  /** US dollars per hosted call, by kind, such as `"web_search"`. Kinds that are not listed are free. */
  readonly hosted: Readonly<Record<string, number>>;
  /**
   * US dollars per minute of a container, by memory tier, such as `"1g"`.
   * @default containers are free
   */
  readonly containerMinute?: Readonly<Record<string, number>> | undefined;
}

/** Prices of a model, in US dollars per million tokens. */
export interface ModelPrice {
  /** Input tokens that were not cached. */
  readonly input: number;
  /** Input tokens that the provider read from its cache. */
  readonly cachedInput: number;
  /** Output tokens, including reasoning. */
  readonly output: number;
}

const tableKeys: KnownKeys<PriceTable> = {
  containerMinute: true,
  date: true,
  hosted: true,
  models: true,
};

const modelKeys: KnownKeys<ModelPrice> = { cachedInput: true, input: true, output: true };

/** Checks a price table and returns a frozen copy. `field` is the caller's name for it. */
export function checkPriceTable(prices: PriceTable, field: string): PriceTable {
  checkRecord(prices, field);
  checkKnownKeys(prices, field, tableKeys);
  const { date, models, hosted, containerMinute } = prices;
  if (typeof date !== "string" || date === "") {
    throw createPriceError(
      `${field}.date`,
      date,
      "must be a date",
      'use a text such as "2026-10-27"',
    );
  }
  checkRecord(models, `${field}.models`);
  for (const [prefix, price] of Object.entries(models)) {
    const name = `${field}.models[${JSON.stringify(prefix)}]`;
    checkRecord(price, name);
    checkKnownKeys(price, name, modelKeys);
    for (const key of ["input", "cachedInput", "output"] as const) {
      checkAmount(price[key], `${name}.${key}`);
    }
  }
  checkAmounts(hosted, `${field}.hosted`);
  if (containerMinute !== undefined) checkAmounts(containerMinute, `${field}.containerMinute`);
  return copyAndFreeze(prices);
}

function checkAmounts(amounts: Readonly<Record<string, number>>, field: string): void {
  checkRecord(amounts, field);
  for (const [name, amount] of Object.entries(amounts)) {
    checkAmount(amount, `${field}[${JSON.stringify(name)}]`);
  }
}

function checkRecord(value: unknown, field: string): void {
  if (isPlainObject(value)) return;
  throw createPriceError(field, value, "must be an object", "see defaultPrices for an example");
}

function checkAmount(value: unknown, field: string): void {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return;
  throw createPriceError(
    field,
    value,
    "must be a number of US dollars, 0 or more",
    "use 0 if it is free",
  );
}

function createPriceError(field: string, value: unknown, rule: string, remedy: string) {
  return new InvalidOptionError({ field, value, rule, remedy });
}
