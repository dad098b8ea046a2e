import { ApiProblem } from '@plinth/sdk/api-problem';
import { ExitCode } from '../exit-codes';
import type { Session } from '../session';
import { push } from './translations';

// It reads the options of a program, and nobody starts one here.
jest.mock('../session', () => ({}));

afterEach(() => (process.exitCode = undefined));

const unit = { resource: 'Shop', source: '' };
const units = [
  { ...unit, key: 'buy', target: 'Prendre' },
  { ...unit, key: 'pay', target: 'Régler' },
  { ...unit, key: 'send', target: 'Envoyer' },
];

it('saves a text over the one that was shown only, and says where not all were', async () => {
  const saved: unknown[] = [];
  const notes: string[] = [];
  const session = {
    localization: {
      getLocalization: async () => ({
        body: {
          currentCulture: 'fr',
          resources: { Shop: { buy: 'Acheter', pay: 'Payer', send: 'Envoyer' } },
        },
        headers: new Headers({ 'x-localization-incomplete': 'true' }),
      }),
      listLocalizationOverrides: async () => ({ body: { buy: 'Acheter' } }),
      putLocalizationOverrides: async ({ body }: { body: { items: unknown[] } }) => {
        saved.push(...body.items);
        return { body: { results: body.items.map(() => ({ isSuccess: true, error: null })) } };
      },
    },
    terminal: {
      note: (text: string) => notes.push(text),
      confirm: async () => undefined,
      result: () => undefined,
    },
  };
  await push(session as unknown as Session, units, { culture: 'fr', source: 'en' });

  const item = { resourceName: 'Shop', cultureName: 'fr' };
  expect(saved).toEqual([
    { ...item, key: 'buy', value: 'Prendre', formerValue: 'Acheter' },
    { ...item, key: 'pay', value: 'Régler', formerValue: null },
  ]);
  expect(notes[0]).toContain('more texts of fr');
  expect(process.exitCode).toBe(ExitCode.Partly);
});

it('saves texts of a resource that is too large to be listed over those of before, which it reads one by one', async () => {
  const saved: unknown[] = [];
  const read: string[] = [];
  const refused = (status: number) =>
    new ApiProblem({ type: '', title: '', status, detail: '', instance: '' }, undefined);
  // Another writes a text between the two readings of all: the platform refuses to replace one of which none is known.
  const shown = [
    { buy: 'Acheter', pay: 'Payer', send: 'Envoyer' },
    { buy: 'Acheter', pay: 'Payer', send: 'Poster' },
  ];
  const session = {
    localization: {
      getLocalization: async () => ({
        body: { currentCulture: 'fr', resources: { Shop: shown.shift() } },
        headers: new Headers(),
      }),
      listLocalizationOverrides: async () => {
        throw refused(413);
      },
      getLocalizationOverride: async ({ params: { key } }: { params: { key: string } }) => {
        read.push(key);
        if (key !== 'buy') throw refused(404);
        return { body: { value: 'Acheter' } };
      },
      putLocalizationOverrides: async ({ body }: { body: { items: unknown[] } }) => {
        saved.push(...body.items);
        return { body: { results: body.items.map(() => ({ isSuccess: true, error: null })) } };
      },
    },
    terminal: { note: () => undefined, confirm: async () => undefined, result: () => undefined },
  };
  await push(session as unknown as Session, units, { culture: 'fr', source: 'en' });

  expect(read).toEqual(['buy', 'pay']);
  const item = { resourceName: 'Shop', cultureName: 'fr' };
  expect(saved).toEqual([
    { ...item, key: 'buy', value: 'Prendre', formerValue: 'Acheter' },
    { ...item, key: 'pay', value: 'Régler', formerValue: null },
    { ...item, key: 'send', value: 'Envoyer', formerValue: null },
  ]);
});
