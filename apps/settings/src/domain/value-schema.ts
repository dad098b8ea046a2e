import { canonicalCulture } from '@plinth/contracts/schemas';
import type { SettingDefinition } from '@plinth/contracts/settings/shapes';
import type { ValidationRule } from '@plinth/kernel/problem';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { schemaInvalid, valueInvalid } from './problems';

const ajv = new Ajv({ allErrors: true, strict: false });
ajv.addFormat('culture', (text: string) => canonicalCulture(text) !== undefined);
ajv.addFormat('time-zone', isTimeZone);

const validators = new Map<string, ValidateFunction>();

/**
 * Checks a value against the JSON Schema of its definition. A schema for texts is applied to the value as it is, any
 * other schema to the value parsed as JSON.
 * @throws Problem `setting-value-invalid`
 */
export function requireFittingValue({ name, schema }: SettingDefinition, value: string): void {
  const validate = validatorOf(schema);
  const instance = describesText(schema) ? value : readJson(value);
  if (instance === undefined)
    throw valueInvalid(name, ['Format'], `it must be JSON of type ${String(schema['type'])}`);
  if (validate(instance)) return;
  const errors = validate.errors ?? [];
  throw valueInvalid(name, errors.map(ruleOf), ajv.errorsText(errors, { dataVar: 'it' }));
}

/**
 * Refuses a definition whose schema is no JSON Schema, or whose default does not fit it.
 * @throws Problem `invalid` or `setting-value-invalid`
 */
export function requireUsableDefinition(definition: SettingDefinition): void {
  try {
    validatorOf(definition.schema);
  } catch (error) {
    throw schemaInvalid(definition.name, (error as Error).message);
  }
  if (definition.defaultValue !== null) requireFittingValue(definition, definition.defaultValue);
}

function validatorOf(schema: object): ValidateFunction {
  const key = JSON.stringify(schema);
  const validate = validators.get(key) ?? ajv.compile(schema);
  validators.set(key, validate);
  return validate;
}

const describesText = (schema: Record<string, unknown>): boolean =>
  [undefined, 'string'].includes(schema['type'] as string);

function readJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function ruleOf({ keyword }: ErrorObject): ValidationRule {
  switch (keyword) {
    case 'enum':
    case 'const':
      return 'Enum';
    case 'maxLength':
      return 'MaximumLength';
    case 'minLength':
      return 'MinimumLength';
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return 'Range';
    default:
      return 'Format';
  }
}

/**
 * Names of zones in lower case, as case does not matter to them: the usual ones, and each other one of the database that
 * was asked for. A formatter takes longer to make than thousands of names to look up.
 */
const timeZones = new Set(Intl.supportedValuesOf('timeZone').map((name) => name.toLowerCase()));

/** In ASCII, since other letters have those in lower case. */
const TIME_ZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/** Whether a text is the name of a zone of the IANA time zone database. Offsets such as `+01:00` are not. */
function isTimeZone(name: string): boolean {
  if (!TIME_ZONE.test(name)) return false;
  const lowerCase = name.toLowerCase();
  if (timeZones.has(lowerCase)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    timeZones.add(lowerCase);
    return true;
  } catch {
    return false;
  }
}
