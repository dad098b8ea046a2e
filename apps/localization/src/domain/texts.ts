import { fallbackChain } from './culture';

/**
 * Texts by their flattened keys, and by resource name. Keys come from tenants, so these objects have no prototype:
 * `__proto__` and `constructor` are keys like any other.
 */
export type Texts = Record<string, string>;
export type Resources = Record<string, Texts>;

/** A resource file: texts that may be grouped to any depth. */
export interface ResourceFile {
  culture: string;
  texts: NestedTexts;
}

export interface NestedTexts {
  readonly [key: string]: string | NestedTexts;
}

/** The texts of one resource in one culture. */
export interface Bundle {
  resourceName: string;
  cultureName: string;
}

export interface OverrideKey extends Bundle {
  key: string;
}

/** A tenant's own text instead of the platform's. */
export interface Override extends OverrideKey {
  value: string;
}

export const emptyRecord = <Value>(): Record<string, Value> => Object.create(null) as Record<string, Value>;

/** Joins nested keys with dots. */
export function flatten(nested: NestedTexts): Texts {
  const flat: Texts = emptyRecord();
  const collect = (group: NestedTexts, prefix: string): void => {
    for (const [key, value] of Object.entries(group)) {
      if (typeof value === 'string') flat[prefix + key] = value;
      else collect(value, `${prefix}${key}.`);
    }
  };
  collect(nested, '');
  return flat;
}

/** The platform's own texts: culture, resource, key. */
export type BaseTexts = Record<string, Resources>;

/** Arranges resource files, given by resource name, by culture. */
export function arrangeBaseTexts(filesByResource: Record<string, readonly ResourceFile[]>): BaseTexts {
  const base: BaseTexts = emptyRecord();
  for (const [resourceName, files] of Object.entries(filesByResource)) {
    for (const { culture, texts } of files) {
      base[culture] ??= emptyRecord<Texts>();
      base[culture][resourceName] = flatten(texts);
    }
  }
  return base;
}

/** The platform's text for a key: in the culture, else in the nearest one it falls back to. */
export const baseText = (base: BaseTexts, key: OverrideKey): string | undefined =>
  findBaseText(base, key)?.text;

/** The same with the culture that it comes from. */
export function findBaseText(
  base: BaseTexts,
  { resourceName, cultureName, key }: OverrideKey,
): { text: string; culture: string } | undefined {
  for (const culture of fallbackChain(cultureName)) {
    const text = base[culture]?.[resourceName]?.[key];
    if (text !== undefined) return { text, culture };
  }
  return undefined;
}

/**
 * The texts of a tenant in one culture. From the default culture to the most specific one, the platform's texts and
 * then the tenant's overrides replace what is there, so an override counts in its culture and in those that fall back
 * to it.
 */
export function mergeTexts(base: BaseTexts, overrides: readonly Override[], culture: string): Resources {
  const steps = mergeInSteps(base, overrides, culture);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Of how many overrides a step goes through. */
const STEP_OVERRIDES = 1_000;

/** The same in steps that take a millisecond or two, since a tenant may have very many overrides. */
export function* mergeInSteps(
  base: BaseTexts,
  overrides: readonly Override[],
  culture: string,
): Generator<void, Resources> {
  const merged: Resources = emptyRecord();
  const lay = (resourceName: string, texts: Texts): void => {
    merged[resourceName] = Object.assign(merged[resourceName] ?? emptyRecord<string>(), texts);
  };
  for (const level of fallbackChain(culture).toReversed()) {
    for (const [resourceName, texts] of Object.entries(base[level] ?? {})) lay(resourceName, texts);
    for (const [at, { resourceName, cultureName, key, value }] of overrides.entries()) {
      if (at % STEP_OVERRIDES === STEP_OVERRIDES - 1) yield;
      if (cultureName !== level) continue;
      merged[resourceName] ??= emptyRecord<string>();
      merged[resourceName][key] = value;
    }
  }
  return merged;
}

/** Those of these names that there are. */
export function pickResources(resources: Resources, names: readonly string[]): Resources {
  const picked: Resources = emptyRecord();
  for (const name of names) if (resources[name]) picked[name] = resources[name];
  return picked;
}
