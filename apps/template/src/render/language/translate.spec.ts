import { evaluate } from './evaluate';
import { LimitError, Meter } from './meter';
import { parseTemplate } from './parse';

/** Each number that is written reads this property. */
const numberFormat = Intl.NumberFormat.prototype as { readonly format: unknown };

const render = (source: string, text: string): string =>
  evaluate(parseTemplate(source), {
    culture: 'fr',
    timeZone: 'UTC',
    isMarkup: false,
    variables: new Map(),
    globals: new Map(),
    template: () => undefined,
    translate: () => text,
    meter: new Meter(),
  }).text;

describe('a text that a template translates', () => {
  it('has its values in it', () => {
    expect(render('{{ t("Order:lines", 3) }}', '{0, plural, one {# ligne} other {# lignes}}')).toBe(
      '3 lignes',
    );
  });

  it.each(['10 ** 308', '"1e308"'])('ends the template before it says %s over and over', (number) => {
    const written = jest.spyOn(numberFormat, 'format', 'get');
    const plural = `{0, plural, other {${'#'.repeat(200_000)}}}`;
    expect(() => render(`{{ t("Order:lines", ${number}) }}`, plural)).toThrow(new LimitError('made'));
    expect(written).not.toHaveBeenCalled();
    written.mockRestore();
  });
});
