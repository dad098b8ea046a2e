import type { ExchangeDefinition } from '@plinth/exchange/definition';
import { companiesExchange } from '../../../apps/contacts/src/exchange/companies';
import { contactsExchange } from '../../../apps/contacts/src/exchange/contacts';
import type { DefinitionField } from '../../../apps/data-exchange/src/domain/definition';
import { overridesExchange } from '../../../apps/localization/src/exchange/overrides';
import { valuesExchange } from '../../../apps/settings/src/exchange/setting-values';
import { templatesExchange } from '../../../apps/template/src/exchange/templates';

/** Only their fields are looked at, so they need nothing to work with. */
const nothing = undefined as never;

/** What can be imported. */
export const shippedDefinitions: readonly ExchangeDefinition[] = [
  contactsExchange,
  companiesExchange,
  overridesExchange(nothing, nothing, nothing, () => {}),
  valuesExchange({ definitions: nothing, box: nothing, valueChecks: nothing }),
  templatesExchange,
];

/** The fields that a column of a file can be mapped to. */
export const fieldsOf = ({ fields }: ExchangeDefinition): DefinitionField[] =>
  Object.entries(fields)
    .filter(([, { readOnly }]) => !readOnly)
    .map(([propertyPath, { type, header, aliases = [], synonyms = [], required = false }]) => ({
      propertyPath,
      type,
      header,
      aliases,
      synonyms,
      required,
      description: '',
      format: '',
      readOnly: false,
      isNavigation: false,
      isSecret: false,
    }));
