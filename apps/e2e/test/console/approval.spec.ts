import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody, respondWithProblem } from './browser';

const browser = browserForTests();

describe('an approval in the console', () => {
  it('is asked for, talked about, and given by another person, who is told at once', async () => {
    const invoice = newId();
    const address = `/console/entities/Invoice/${invoice}`;
    const { page: grace } = await browser.signIn('Grace Hopper');
    await grace.getByRole('link', { name: /^Notifications/ }).click();
    const { page: emile } = await browser.signIn('Émile Zola');
    await emile.goto(address);

    // The requester moves the invoice as far as he may, and asks for the rest.
    const reason = emile.getByRole('textbox', { name: 'Comment on the change' });
    const requestApproval = emile.getByRole('button', { name: /^Approve/ });
    await reason.fill('As agreed');
    await emile.reload();
    await eventually(async () => (await reason.inputValue()) === 'As agreed');
    await emile.getByRole('button', { name: /^Submit/ }).click();
    await requestApproval.waitFor();
    // What was sent is kept no longer; that it was is known by its response, before which the others may be told.
    await eventually(async () => (await reason.inputValue()) === '');
    await emile.reload();
    await eventually(async () => (await reason.inputValue()) === '');
    await reason.fill('Due on Friday');
    await requestApproval.click();
    await emile.getByText('Approval requested').waitFor();
    await expectForEverybody(emile);

    const writing = emile.getByRole('textbox', { name: 'Comment', exact: true });
    await writing.pressSequentially('Please look, @Grace');
    await emile.getByRole('option', { name: '@Grace Hopper', selected: true }).waitFor();
    // With other keys held down it is for the text.
    await writing.press('Shift+Escape');
    expect(await emile.getByRole('option').count()).toBe(1);
    await writing.press('Enter');
    await emile.getByRole('button', { name: 'Send' }).click();
    await emile.getByRole('article').getByText('@Grace Hopper').waitFor();
    await writing.fill('Paid twice last year');
    await emile.getByText('Internal note', { exact: true }).first().click();
    await emile.getByRole('button', { name: 'Send' }).click();
    await emile.getByRole('article').filter({ hasText: 'Paid twice' }).getByText('Internal note').waitFor();
    await expectForEverybody(emile);

    await grace.getByText('Émile Zola mentioned you').first().waitFor();
    await expectForEverybody(grace);
    await grace.getByRole('link', { name: 'Approvals' }).click();
    const request = grace.getByRole('article').filter({ hasText: invoice });
    await request.getByText('Due on Friday').waitFor();
    await expectForEverybody(grace);
    // The evidence: what was said about it, and how it came here.
    await request.getByRole('button', { name: 'Timeline and history' }).click();
    await request.getByRole('article').filter({ hasText: 'Paid twice last year' }).waitFor();
    await request
      .getByText(/^Émile Zola · /)
      .first()
      .waitFor();
    await expectForEverybody(grace);
    // Somebody else reads the same requests, and writes to one of them.
    const { page: ada } = await browser.signIn('Ada Lovelace');
    // Until they send what they decided, the list that they have read stays.
    let asRead: unknown;
    let isSent = false;
    ada.on('request', (sent) => (isSent ||= sent.url().endsWith(`/Invoice/${invoice}/transition`)));
    await ada.route('**/workflow/approvals?*', async (route) => {
      if (isSent) return route.continue();
      asRead ??= await (await route.fetch()).json();
      await route.fulfill({ json: asRead });
    });
    await ada.goto('/console/approvals');
    const same = ada.getByRole('article').filter({ hasText: invoice });
    const opinion = same.getByRole('textbox', { name: 'Comment on your decision' });
    await opinion.fill('Also fine');
    await ada.reload();
    await eventually(async () => (await opinion.inputValue()) === 'Also fine');

    await request.getByRole('textbox', { name: 'Comment on your decision' }).fill('Fine');
    await request.getByRole('button', { name: 'Approve' }).click();
    await request.waitFor({ state: 'detached' });
    expect(await grace.getByText('no longer waits for you').count()).toBe(0);

    await same.getByRole('button', { name: 'Approve' }).click();
    const gone = ada.getByRole('status').filter({ hasText: 'A request no longer waits for you' });
    await gone.getByRole('link', { name: `Invoice ${invoice}` }).waitFor();
    await expectForEverybody(ada);
    await gone.getByRole('button', { name: 'Close' }).click();
    await gone.waitFor({ state: 'detached' });

    await grace.clock.install();
    await grace.goto(address);
    await grace.getByRole('complementary').getByText('Fine').waitFor();
    // The timeline has it by an event, whenever that is processed.
    await grace.getByText('Moved from Waiting for approval to Approved: Fine').first().waitFor();
    // A page that asks again and again would do so within these minutes.
    const asked: string[] = [];
    grace.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await grace.clock.fastForward(5 * 60_000);
    // What others write appears by itself.
    await emile.getByText('Internal note', { exact: true }).first().click();
    await writing.pressSequentially('Thank you, @Grace');
    await emile.getByRole('option', { name: '@Grace Hopper' }).click();
    await writing.and(emile.locator(':focus')).waitFor();
    expect(asked).not.toContain(`/api/v1/timeline/Invoice/${invoice}`);
    await emile.getByRole('button', { name: 'Send' }).click();
    await grace.getByRole('article').filter({ hasText: 'Thank you, @Grace Hopper' }).waitFor();
    const journey = browser.journey();
    const token = await journey.tokenOf({ tenantId: tenants.console.id });
    const { body } = await journey.call('GET', `/api/v1/workflow/Invoice/${invoice}/transitions`, { token });
    expect(body.currentState).toBe('Approved');
  });

  it('is given by somebody else while the person is away, also after the service was', async () => {
    const journey = browser.journey();
    const invoice = newId();
    const address = `/api/v1/workflow/Invoice/${invoice}/transition`;
    const token = await journey.tokenOf({
      sub: 'demo-admin',
      tenantId: tenants.console.id,
      roles: ['admin'],
    });
    for (const targetState of ['Submitted', 'Approved'])
      await journey.call('POST', address, { token, body: { targetState } });

    const window = await browser.signIn('Émile Zola');
    const { page: emile } = window;
    const { page: grace } = await browser.signIn('Grace Hopper');
    await grace.goto('/console/approvals');
    await grace.getByRole('button', { name: 'Let somebody decide for you' }).click();
    await grace.getByRole('button', { name: /Who decides for you/ }).click();
    await grace.locator('[aria-autocomplete=list]:focus').fill('mile zo');
    await grace.getByRole('option', { name: /^Émile Zola/ }).click();
    await grace.getByRole('button', { name: 'Let this person decide' }).click();
    await grace.getByText('Fill this in.').waitFor();
    await grace.getByLabel('Last day').fill('2020-01-01');
    await grace.getByRole('button', { name: 'Let this person decide' }).click();
    await grace.getByText('at most 89 days').waitFor();
    await expectForEverybody(grace);
    // Not today, which may be over by then.
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    await grace.getByLabel('Last day').fill(tomorrow);
    await grace.getByRole('button', { name: 'Let this person decide' }).click();
    const given = grace.getByRole('list', { name: 'Who decides for you' }).getByRole('listitem');
    await given.getByText('Émile Zola decides for you').waitFor();
    // Also told to those who do not see the list.
    await grace.getByRole('status').filter({ hasText: 'Émile Zola decides for you' }).waitFor();
    await expectForEverybody(grace);

    await emile.goto('/console/approvals');
    const request = emile.getByRole('article').filter({ hasText: invoice });
    await request.getByText('You decide for Grace Hopper').waitFor();
    await emile.route(`**${address}`, (route) =>
      route.request().method() === 'POST'
        ? respondWithProblem(route, { status: 503, detail: 'The service does not respond.' })
        : route.continue(),
    );
    await request.getByRole('textbox', { name: 'Comment on your decision' }).fill('Too much');
    await request.getByRole('button', { name: 'Deny' }).click();
    await request.getByText('Nothing on this page is lost. Try again in a moment.').waitFor();
    await emile.unrouteAll();
    await request.getByRole('button', { name: 'Deny' }).click();
    await request.waitFor({ state: 'detached' });
    window.allow('503');
    await emile.goto(`/console/entities/Invoice/${invoice}`);
    await emile.getByText('Approval denied, back to Submitted: Too much').waitFor();

    await given.getByRole('button', { name: 'Take back' }).click();
    await grace.getByRole('alertdialog').getByRole('button', { name: 'Take back' }).click();
    await given.waitFor({ state: 'detached' });
    await expectForEverybody(grace);
  });
});
