import type { Texts } from '../texts/texts';
import { definitionName, fieldHelp, fieldName } from './definition-name';

/** Texts of which only these are there. */
const textsWith = (known: Record<string, string>) => ({ find: (key) => known[key] }) as Texts;

describe('the names of definitions', () => {
  it('are words where there are some, and otherwise as their service calls them', () => {
    expect(
      definitionName(textsWith({ 'Console.definitions.Parties.Party': 'Contacts' }), 'Parties.Party'),
    ).toBe('Contacts');
    expect(definitionName(textsWith({}), 'Shop.Order')).toBe('Shop · Order');
  });

  it('lead to the words for their fields, also those without a dot', () => {
    const texts = textsWith({
      'Console.fields.Parties.name': 'Name',
      'Console.fields.Orders.name': 'Title',
      'Console.fieldHelp.Orders.name': 'What it is called',
    });
    expect(fieldName(texts, 'Parties.Party', 'name', 'otherwise')).toBe('Name');
    expect(fieldName(texts, 'Orders', 'name', 'otherwise')).toBe('Title');
    expect(fieldHelp(texts, 'Orders', 'name', null)).toBe('What it is called');
    expect(fieldName(texts, 'Order', 'name', 'otherwise')).toBe('otherwise');
  });
});
