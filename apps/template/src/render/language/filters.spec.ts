import { templateFilters } from '@plinth/contracts/template/language';
import { filters } from './filters';

describe('the filters of templates', () => {
  it('are those that the contracts name', () => {
    expect([...templateFilters]).toEqual(Object.keys(filters).sort());
  });
});
