import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allEndpoints } from './all';
import { allEvents } from './events';

const areas = Object.keys(allEndpoints);
const names = allEvents.map(({ name }) => name);
const page = readFileSync(join(__dirname, '../../../docs/events.md'), 'utf8');

describe('the catalogue of events', () => {
  it('has each name once', () => {
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(names)('says %s by the area that tells it and what happened', (name) => {
    const [area, what, ...rest] = name.split('.');
    expect(areas).toContain(area);
    expect(what).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(rest).toEqual([]);
  });

  it.each(names)('explains %s in docs/events.md', (name) => {
    expect(page).toContain(`| \`${name}\``);
  });
});
