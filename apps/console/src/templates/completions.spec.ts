import { proposalsFor } from './completions';

const names = ['company.name', 'lines[].price', 'lines[].text', 'number'];
const labels = (before: string) => proposalsFor(before, names)?.proposals.map(({ label }) => label) ?? [];

describe('the completion of templates', () => {
  it('proposes variables in an output, tags in a tag, and filters behind a bar', () => {
    expect(labels('<p>{{ comp')).toContain('company.name');
    expect(labels('{% fo')).toContain('for');
    expect(labels('{% fo')).not.toContain('company.name');
    expect(labels('{% if numb')).toContain('number');
    expect(labels('{{ price | cur')).toContain('currency');
    expect(labels('{{ price | currency("EUR") | ')).not.toContain('number'.repeat(2));
  });

  it('proposes the members of items under the name that a loop gives them', () => {
    expect(labels('{% for line in lines %}{{ line.')).toEqual(
      expect.arrayContaining(['line.price', 'line.text']),
    );
  });

  it('replaces the word that was begun, with its dots', () => {
    expect(proposalsFor('a {{ company.na', names)?.from).toBe('a {{ '.length);
  });

  it('proposes nothing in the text around, in quotes and behind numbers', () => {
    for (const before of ['<p>comp', '{{ a }} comp', '{{ t("comp', '{{ 12', ''])
      expect(proposalsFor(before, names)).toBeUndefined();
  });
});
