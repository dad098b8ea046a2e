import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { settingChange, settings, settingsQuery, type Setting } from './settings';

jest.mock('./platform', () => ({ clientOptions: { baseUrl: 'http://platform.test' } }));

const THEME = 'Service.Console.Theme';
const CULTURE = 'Service.Localization.PreferredCulture';
const value = (value: string): Setting => ({
  value,
  source: 'User',
  overrides: [],
  locked: false,
  lockedHere: false,
});

let queries: QueryClient;
/** What the platform was asked for, and how each is responded to. */
let asked: { value: string | null; respond: (error?: Error) => void }[];

beforeEach(() => {
  asked = [];
  jest.spyOn(settings, 'putSetting').mockImplementation(
    (({ body }: { body: { value: string | null } }) =>
      new Promise((resolve, reject) => {
        asked.push({ value: body.value, respond: (error) => (error ? reject(error) : resolve({})) });
      })) as never,
  );
  queries = new QueryClient();
  const all = { [THEME]: value('system'), [CULTURE]: value('en') };
  queries.setQueryData(settingsQuery('user').queryKey, all);
});
afterEach(() => {
  jest.restoreAllMocks();
  queries.clear();
});

const choose = (name: string, chosen: string) =>
  new MutationObserver(queries, settingChange(queries, 'user', name)).mutate(chosen).then(
    () => 'stored',
    () => 'refused',
  );
const shown = () => {
  const all = queries.getQueryData(settingsQuery('user').queryKey)!;
  return [all[THEME]!.value, all[CULTURE]!.value];
};
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('sends the changes of a setting one after the other, so that the last choice stays', async () => {
  const first = choose(THEME, 'dark');
  const second = choose(THEME, 'light');
  const other = choose(CULTURE, 'fr');
  await settle();
  expect(asked.map((one) => one.value)).toEqual(['dark', 'fr']);
  expect(shown()).toEqual(['light', 'fr']);
  asked[0]!.respond();
  await first;
  await settle();
  expect(asked.map((one) => one.value)).toEqual(['dark', 'fr', 'light']);
  asked[1]!.respond();
  asked[2]!.respond();
  expect(await Promise.all([second, other])).toEqual(['stored', 'stored']);
  expect(shown()).toEqual(['light', 'fr']);
});

it('puts back what is refused, and nothing else', async () => {
  const theme = choose(THEME, 'dark');
  await settle();
  const culture = choose(CULTURE, 'fr');
  await settle();
  asked[0]!.respond(new Error('no'));
  expect(await theme).toBe('refused');
  expect(shown()).toEqual(['system', 'fr']);
  asked[1]!.respond();
  expect(await culture).toBe('stored');
});

it('shows what was chosen after what is refused', async () => {
  const first = choose(THEME, 'dark');
  const second = choose(THEME, 'light');
  await settle();
  asked[0]!.respond(new Error('no'));
  expect(await first).toBe('refused');
  expect(shown()).toEqual(['light', 'en']);
  await settle();
  asked[1]!.respond();
  expect(await second).toBe('stored');
});

it('puts back what is stored where one after the other is refused', async () => {
  const first = choose(THEME, 'dark');
  const second = choose(THEME, 'light');
  await settle();
  asked[0]!.respond(new Error('no'));
  expect(await first).toBe('refused');
  await settle();
  asked[1]!.respond(new Error('no'));
  expect(await second).toBe('refused');
  expect(shown()).toEqual(['system', 'en']);
});
