import { atOnce } from '@plinth/exchange/in-turns';
import { suggestMappings } from '../../../apps/data-exchange/src/domain/mapping';
import { baseText } from '../../../apps/localization/src/domain/texts';
import { baseTexts } from '../../../apps/localization/src/resources/base-texts';
import { fieldsOf, shippedDefinitions } from './shipped-definitions';

const cultures = ['en', 'en-GB', 'fr', 'fr-CA'];

describe.each(shippedDefinitions)(
  'a file with the columns that the console shows for $name',
  (definition) => {
    const service = definition.name.split('.')[0]!;
    const fields = fieldsOf(definition);
    const shownName = (culture: string, propertyPath: string) =>
      baseText(baseTexts, {
        resourceName: 'Console',
        cultureName: culture,
        key: `fields.${service}.${propertyPath}`,
      })!;

    it.each(cultures)('is understood in the language %s, each column also alone', (culture) => {
      const columns = fields.map(
        ({ propertyPath }) => [shownName(culture, propertyPath), propertyPath] as const,
      );
      const suggested = (headers: readonly string[]) =>
        atOnce(suggestMappings(headers, fields)).map(({ sourceColumn, targetProperty }) => [
          sourceColumn,
          targetProperty,
        ]);

      expect(suggested(columns.map(([header]) => header))).toEqual(columns);
      expect(columns.flatMap(([header]) => suggested([header]))).toEqual(columns);
    });
  },
);
