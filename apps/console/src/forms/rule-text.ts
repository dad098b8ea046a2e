import type { Texts } from '../texts/texts';

/** The rule that a code of a problem's `errors` names, such as `Service:Validation:NotEmptyValidator`. */
export const ruleOf = (code = ''): string => /(\w+)Validator$/.exec(code)?.[1] ?? 'Format';

/** What is wrong with a field, in plain words. */
export function ruleText({ t }: Texts, rule: string, value?: unknown, maximumLength?: number): string {
  if (maximumLength === undefined) return t(`Console.forms.${rule}`);
  return t('Console.forms.AtMost', { maximum: maximumLength, count: [...String(value)].length });
}
