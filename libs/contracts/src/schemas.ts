import { isStorableInstant } from '@plinth/kernel/instant';
import { lengthOf } from '@plinth/kernel/text';
import { z } from 'zod';

/** An instant in an answer: handlers give a Date or its text, the wire has ISO 8601. */
export const Timestamp = z
  .union([z.date(), z.iso.datetime({ offset: true })])
  .meta({ type: 'string', format: 'date-time' });

const isStorable = (text: string): boolean => isStorableInstant(new Date(text));

/** A day in a request. */
export const Day = z.iso.date().refine(isStorable, { params: { rule: 'Range' }, message: 'From year 1 on.' });

/** An instant in a request. */
export const Instant = z.iso
  .datetime({ offset: true })
  .refine(isStorable, { params: { rule: 'Range' }, message: 'From year 1 to year 9999.' });

/** The id of a resource. */
export const Id = z.uuid();

/** Text of at most this many characters (code points), NFC-normalised. */
export const text = (lengthMax: number, lengthMin = 0) => {
  const schema = z
    .string()
    .normalize('NFC')
    .refine((value) => lengthOf(value) <= lengthMax, {
      params: { rule: 'MaximumLength', maximum: lengthMax },
      message: `At most ${lengthMax} characters.`,
    })
    .meta({ maxLength: lengthMax, ...(lengthMin > 0 ? { minLength: lengthMin } : {}) });
  return lengthMin > 0
    ? schema.refine((value) => value.trim().length >= lengthMin, { params: { rule: 'NotEmpty' } })
    : schema;
};

/** RFC 5646, 4.4.1: no tag that is in use is longer. */
const CULTURE_LENGTH_MAX = 35;

/** Language, script, region, a variant and private use, which is what people write; extensions are taken as well. */
const CULTURE_PATTERN =
  '^(?:[A-Za-z]{2,3}|[A-Za-z]{5,8})(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?(?:-x(?:-[A-Za-z0-9]{1,8})+)?$';

/** A well-formed BCP 47 language tag, in its canonical spelling. */
export const Culture = z
  .string()
  .transform((value, context) => {
    const canonical = canonicalCulture(value);
    if (canonical !== undefined) return canonical;
    context.addIssue({ code: 'custom', message: 'Not a BCP 47 language tag.', params: { rule: 'Format' } });
    return z.NEVER;
  })
  .meta({
    type: 'string',
    maxLength: CULTURE_LENGTH_MAX,
    pattern: CULTURE_PATTERN,
    format: 'language-tag',
    description: 'BCP 47 language tag',
  });

/** The canonical spelling of a language tag, or undefined where it is not well-formed. */
export function canonicalCulture(tag: string): string | undefined {
  if (tag.length > CULTURE_LENGTH_MAX) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
