import { composed, isLongerThan, MARKS_IN_ROW_MAX } from '@plinth/kernel/composed';
import { isStorableInstant } from '@plinth/kernel/instant';
import { lengthOf } from '@plinth/kernel/text';
import { z } from 'zod';

/** An instant in a response: handlers return a Date or its text, the wire has ISO 8601. */
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

/**
 * The id of a resource, as it is stored: in lower case, whichever case it arrives in (RFC 9562, 4), because it is compared as
 * text, and names files.
 */
export const Id = z.uuid().toLowerCase();

/** The same as a pattern of JSON Schema, for a part of a text. */
export const ID_PATTERN = z.regexes.uuid().source.slice('^'.length, -'$'.length);

/** As a pattern of JSON Schema, for the whole text: clients in some languages look for no part of it. */
export const NOT_ONLY_BLANKS = '^[\\s\\S]*\\S[\\s\\S]*$';

/**
 * Text of at most this many characters (code points), NFC-normalised, without long rows of combining marks. A broken rule
 * ends what is looked at of a list of very many (`parseInput`), as a wrong type does.
 */
export const text = (lengthMax: number, lengthMin = 0) => {
  const tooLong = {
    params: { rule: 'MaximumLength', maximum: lengthMax },
    message: `At most ${lengthMax} characters.`,
    abort: true,
  };
  const schema = z
    .string()
    .refine((value) => !isLongerThan(lengthMax, value), tooLong)
    .check(compose)
    // Code points are counted only where the number of code units leaves a doubt.
    .refine((value) => value.length <= lengthMax || lengthOf(value) <= lengthMax, tooLong)
    .meta({
      maxLength: lengthMax,
      ...(lengthMin > 0 ? { minLength: lengthMin, pattern: NOT_ONLY_BLANKS } : {}),
    });
  return lengthMin > 0
    ? schema.refine((value) => value.trim().length >= lengthMin, {
        params: { rule: 'NotEmpty' },
        abort: true,
      })
    : schema;
};

function compose(payload: z.core.ParsePayload<string>): void {
  const value = composed(payload.value);
  if (value !== undefined) payload.value = value;
  else
    payload.issues.push({
      code: 'custom',
      input: payload.value,
      params: { rule: 'Format' },
      message: `At most ${MARKS_IN_ROW_MAX} combining marks follow one another.`,
    });
}

const ENTITY_TYPE_LENGTH_MAX = 100;
/** As the content of a character class in a pattern. */
export const CONTROL_CHARACTERS = '\\u0000-\\u001f\\u007f-\\u009f';
const controlCharacter = new RegExp(`[${CONTROL_CHARACTERS}]`, 'u');

/** The blanks that are no control characters, as the content of a character class. */
export const BLANKS = ' \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';

/**
 * A text that is not empty, not only blanks, and has none of these characters, as a pattern of JSON Schema. No character
 * fits two of its parts: a long text that does not match takes no longer than one that does.
 * @param blanks those that are not among the characters
 */
export const textWithout = (characters: string, blanks: string): string =>
  `[${blanks}]*[^\\s${characters}][^${characters}]*`;

const describeEntityType = {
  maxLength: ENTITY_TYPE_LENGTH_MAX,
  minLength: 1,
  pattern: `^${textWithout(CONTROL_CHARACTERS, BLANKS)}$`,
  description: 'Kind of entity',
  examples: ['Invoice', 'purchase-order', 'Pièce comptable'],
};

/** The name of a kind of entity in any language, as the service or the tenant that owns it chose it. */
export const EntityType = text(ENTITY_TYPE_LENGTH_MAX, 1)
  .refine((value) => !controlCharacter.test(value), {
    params: { rule: 'Format' },
    message: 'An entity type has no control characters.',
  })
  .meta(describeEntityType);

/** A text in a path, NFC-normalised; one that cannot be stored so is left as it is, and not found. */
export const TextInPath = z.string().overwrite((value) => composed(value) ?? value);

/** An entity type in a path, where a text that cannot be one is malformed. */
export const EntityTypeInPath = TextInPath.refine((value) => EntityType.safeParse(value).success, {
  params: { rule: 'Format' },
  message: `must have 1 to ${ENTITY_TYPE_LENGTH_MAX} characters, none of them a control character.`,
}).meta(describeEntityType);

/** RFC 5646, 4.4.1: no tag in use is longer. */
const CULTURE_LENGTH_MAX = 35;

const LETTER_OR_DIGIT = '[A-Za-z0-9]';
const SCRIPT_AND_REGION = '(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?';
const LONG_VARIANT = `-${LETTER_OR_DIGIT}{5,8}`;
const SHORT_VARIANT = `-[0-9]${LETTER_OR_DIGIT}{3}`;
/** Two only where they differ in length: none may be repeated, which a pattern cannot say. */
const VARIANTS = `(?:${LONG_VARIANT}(?:${SHORT_VARIANT})?|${SHORT_VARIANT}(?:${LONG_VARIANT})?)`;

/** What people write: language, script, region, variants, the extension of Unicode and private use. Others are accepted too. */
const CULTURE_PATTERN = [
  '(?:[A-Za-z]{2,3}|[A-Za-z]{5,8})',
  SCRIPT_AND_REGION,
  `${VARIANTS}?`,
  `(?:-[Uu](?:-(?:${LETTER_OR_DIGIT}{3,8}|${LETTER_OR_DIGIT}[A-Za-z]))+)?`,
  `(?:-[Xx](?:-${LETTER_OR_DIGIT}{1,8})+)?`,
].join('');

/** The same for a part of a text, where no other limit keeps tags as short as they have to be. */
export const CULTURE_IN_LIST_PATTERN = [
  '[A-Za-z]{2,3}',
  SCRIPT_AND_REGION,
  `(?:${VARIANTS}|-[Uu]-${LETTER_OR_DIGIT}[A-Za-z](?:-${LETTER_OR_DIGIT}{3,8})?|-[Xx](?:-${LETTER_OR_DIGIT}{1,8}){1,2})?`,
].join('');

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
    pattern: `^${CULTURE_PATTERN}$`,
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

/**
 * Values of a query parameter, separated by commas: at least one, and not more than `max`.
 * `itemPattern` is what one of them looks like, for the OpenAPI document.
 */
export const commaSeparated = <Item extends z.ZodType<unknown, string>>(
  item: Item,
  max: number,
  itemPattern = textWithout(',', '\\s'),
) =>
  z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(item).min(1).max(max))
    .meta({ pattern: `^(?:${itemPattern})(?:,(?:${itemPattern}))*$` });
