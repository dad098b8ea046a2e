import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allEndpoints } from './all';
import { allEvents } from './events';

const services = Object.keys(allEndpoints);
const names = allEvents.map(({ name }) => name);
const page = readFileSync(join(__dirname, '../../../docs/events.md'), 'utf8');

describe('the catalogue of events', () => {
  it('has each name once', () => {
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(names)('names %s by its service and what happened', (name) => {
    const [service, what, ...rest] = name.split('.');
    expect(services).toContain(service);
    expect(what).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(rest).toEqual([]);
  });

  it.each(names)('has %s in docs/events.md', (name) => {
    expect(page).toContain(`| \`${name}\``);
  });
});
