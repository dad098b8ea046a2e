import { baseText, findBaseText, type BaseTexts, type Override, type OverrideKey } from './texts';

/** A text in any culture. */
export interface TextName {
  resourceName: string;
  key: string;
}

/** An override with what the platform said when it was written. */
export interface WrittenOverride extends Override {
  replacedValue: string | null;
}

/** An override of a batch. */
export interface BatchOverride extends WrittenOverride {
  /** What it was when it was read, null for none; undefined where it replaces anything. */
  formerValue?: string | null | undefined;
}

/** An override of a batch with its place among the items of the request. */
export interface PlacedOverride extends BatchOverride {
  place: number;
}

/** A text of which the override is taken away. */
export interface Removal extends OverrideKey {
  /** What it was when it was read, null for none; undefined where any is taken away. */
  formerValue?: string | null | undefined;
}

/** Whether the platform says something else than when the override was written. */
export const hasDrifted = (base: BaseTexts, override: WrittenOverride): boolean =>
  override.replacedValue !== null && override.replacedValue !== baseText(base, override);

/** The names of the platform's texts that contain what is searched for, in their key or in any culture. */
export function findTextNames(base: BaseTexts, resourceName: string | undefined, search: string): TextName[] {
  const wanted = search.toLowerCase();
  const found = new Map<string, TextName>();
  for (const resources of Object.values(base)) {
    for (const [resource, texts] of Object.entries(resources)) {
      if (resourceName !== undefined && resource !== resourceName) continue;
      for (const [key, text] of Object.entries(texts)) {
        if (wanted !== '' && !key.toLowerCase().includes(wanted) && !text.toLowerCase().includes(wanted))
          continue;
        found.set(JSON.stringify([resource, key]), { resourceName: resource, key });
      }
    }
  }
  return [...found.values()];
}

/** How a text reads in one culture. */
export function readIn(base: BaseTexts, name: OverrideKey, override: WrittenOverride | undefined) {
  const platform = findBaseText(base, name);
  return {
    cultureName: name.cultureName,
    platformValue: platform?.text ?? null,
    platformCulture: platform?.culture ?? null,
    value: override?.value ?? null,
    replacedValue: override?.replacedValue ?? null,
    hasDrifted: override !== undefined && hasDrifted(base, override),
  };
}
