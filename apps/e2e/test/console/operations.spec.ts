import { newId } from '@plinth/kernel/uuid';
import { connectToDatabase } from '../databases';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody, respondWithProblem } from './browser';

const browser = browserForTests();

/** An event that the timeline service could not process, and can now. */
async function writeDeadLetter(): Promise<string> {
  const name = `letter ${newId()}`;
  const envelope = {
    id: newId(),
    name: 'template.published',
    tenantId: tenants.console.id,
    subject: name,
    sequence: 1,
    occurredAt: new Date().toISOString(),
    actorId: 'ada',
    actorName: 'Ada Lovelace',
    traceparent: `00-${'c0ffee00'.repeat(4)}-b7ad6b7169203331-01`,
    payload: { name, culture: null, revisionId: newId() },
  };
  const database = await connectToDatabase(browser.journey(), 'timeline');
  try {
    await database.query(
      `INSERT INTO dead_letter (tenant_id, consumer, event_id, name, envelope, error, deliveries)
       VALUES ($1, 'timeline', $2, $3, $4, $5, 10)`,
      [
        envelope.tenantId,
        envelope.id,
        envelope.name,
        JSON.stringify(envelope),
        'Error: The disk was full.\n  at write',
      ],
    );
  } finally {
    await database.end();
  }
  return name;
}

describe('operations in the console', () => {
  it('show operators each service, what it could not process, and lead them anywhere by the keyboard', async () => {
    const template = await writeDeadLetter();
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const body = { definitionName: 'Settings.Values', format: 'csv' };
    const exporting = await journey.call('POST', '/api/v1/exports/jobs', { token, body });
    expect(exporting.status).toBe(202);
    // The configuration does not name every tenant.
    const stranger = newId();
    const foreign = await journey.tokenOf({ tenantId: stranger });
    expect((await journey.call('POST', '/api/v1/exports/jobs', { token: foreign, body })).status).toBe(202);
    const { page } = await browser.open();
    await page.goto('/console/operations');
    const host = page.getByRole('region', { name: 'Plinth' });
    await host.getByRole('button', { name: 'Ada Lovelace' }).click();
    await page
      .getByRole('region', { name: 'Services' })
      .getByRole('rowheader', { name: 'timeline' })
      .waitFor();
    await page.getByRole('img', { name: /^Requests per minute/ }).waitFor();
    await page.getByRole('button', { name: 'Ada Lovelace' }).getByText('Plinth').waitFor();
    const letters = page.getByRole('region', { name: 'Dead letters' });
    const letter = letters.getByRole('row').filter({ hasText: 'c0ffee00' });
    await letter.getByText('Error: The disk was full.').waitFor();
    await letter.getByText('template.published').waitFor();
    expect(await letter.getByRole('link').getAttribute('href')).toBe(
      `https://traces.test/trace/${'c0ffee00'.repeat(4)}`,
    );
    await page.getByRole('heading', { name: 'Jobs of all tenants' }).waitFor();
    await expectForEverybody(page);

    const search = page.getByRole('textbox', { name: 'Search dead letters' });
    await search.fill('nothing is called so');
    await letter.waitFor({ state: 'detached' });
    await search.fill('disk was full');
    await letter.waitFor();
    const show = async (shown: string, option: string) => {
      await page.getByRole('button', { name: shown }).click();
      await page.getByRole('option', { name: option, exact: true }).click();
      await page.getByRole('listbox').waitFor({ state: 'detached' });
    };
    await show('Not finished', 'All');
    await show('All kinds', 'Export');
    await show('All tenants', stranger);
    const jobs = page.getByRole('region', { name: 'Jobs of all tenants' }).getByRole('row');
    await jobs.filter({ hasText: tenants.console.name }).first().waitFor({ state: 'detached' });
    await jobs.filter({ hasText: stranger }).first().waitFor();
    await show(stranger, tenants.console.name);
    await jobs.filter({ hasText: tenants.console.name }).first().waitFor();
    await jobs.filter({ hasText: 'Import ·' }).first().waitFor({ state: 'detached' });
    await expectForEverybody(page);

    // Of a service that does not respond nobody knows what it could not process.
    const isFigures = ({ pathname }: URL) => pathname === '/operations';
    await page.route(isFigures, async (route) => {
      const response = await route.fetch();
      const figures = (await response.json()) as { services: object[] };
      const services = figures.services.map((service) => ({ ...service, responds: false, queues: null }));
      await route.fulfill({ response, json: { ...figures, services } });
    });
    await page.getByText(/^What .* could not process is unknown/).waitFor();
    expect(await page.getByText('Every event was processed.').count()).toBe(0);
    await page.unroute(isFigures);

    await letter.getByRole('button', { name: 'Replay' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('1 event was processed, 0 failed again.').waitFor();
    await letter.waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement !== document.body);
    const path = `/api/v1/timeline/Template/${encodeURIComponent(template)}`;
    expect((await journey.call('GET', path, { token })).body.totalCount).toBe(1);

    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
    await expectForEverybody(page);
    await page.keyboard.type('Invoice 0190');
    await page.getByRole('menuitem', { name: 'Open Invoice 0190' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/entities\/Invoice\/0190$/);
    await page.waitForFunction(() => document.activeElement?.id === 'main');
  });

  it('say that all is well once they know of the oldest jobs only', async () => {
    const { page } = await browser.open();
    await page.route(
      ({ pathname }) => pathname === '/operations',
      async (route) => {
        const response = await route.fetch();
        const figures = (await response.json()) as { services: object[]; minutes: object[] };
        const queues = { unpublished: 0, oldestSeconds: 0, deadLetters: 0 };
        const well = { ready: true, responds: true, parts: {}, queues, breaker: 'Closed' };
        const services = figures.services.map((service) => ({ ...service, ...well }));
        const minutes = figures.minutes.map((minute) => ({ ...minute, failed: 0 }));
        await route.fulfill({ response, json: { ...figures, services, minutes, redisResponds: true } });
      },
    );
    const responses = [1, 2].map(() => Promise.withResolvers<'unread' | 'stuck'>());
    let asked = 0;
    const isOfOldest = ({ pathname, searchParams }: URL) =>
      pathname.endsWith('/exchange-jobs') && searchParams.get('sort') === 'createdAt';
    await page.route(isOfOldest, async (route) => {
      if ((await responses[asked++ === 0 ? 0 : 1]!.promise) === 'unread')
        return respondWithProblem(route, { status: 404, detail: 'Nothing is there.' });
      const response = await route.fetch();
      const job = {
        kind: 'Import',
        id: newId(),
        tenantId: tenants.console.id,
        definitionName: 'Contacts',
        status: 'Executing',
        rowsDone: 1,
        rowsFailed: 0,
        createdAt: '2026-01-01T00:00:00.000Z',
        progressAt: null,
        completedAt: null,
        errorMessage: null,
      };
      await route.fulfill({ response, json: { ...((await response.json()) as object), items: [job] } });
    });
    const oldest = page.waitForRequest((request) => isOfOldest(new URL(request.url())));
    await page.goto('/console/operations');
    await page.getByRole('region', { name: 'Plinth' }).getByRole('button', { name: 'Ada Lovelace' }).click();
    await oldest;
    await page.getByRole('region', { name: 'Services' }).waitFor();
    const well = page.getByText('All is well');
    expect(await well.isVisible()).toBe(false);
    responses[0]!.resolve('unread');
    await page.getByRole('alert').getByText('The list of jobs could not be read').waitFor();
    responses[1]!.resolve('stuck');
    await page.getByRole('alert').getByText('1 job has not moved for ten minutes.').waitFor();
    expect(await well.count()).toBe(0);
    await page.unroute(isOfOldest);
    await well.waitFor();
  });

  it('are not shown to a tenant', async () => {
    const { page } = await browser.signIn('Ada Lovelace');
    expect(await page.getByRole('link', { name: 'Operations' }).count()).toBe(0);
    await page.goto('/console/operations');
    await page.getByText('You are not authorized to see this.').waitFor();
  });
});
