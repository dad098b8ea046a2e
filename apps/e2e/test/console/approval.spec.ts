import { newId } from '@plinth/kernel/uuid';
import { tenants } from '../platform';
import { browserForTests, expectForEverybody } from './browser';

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
    await emile.getByRole('button', { name: /^Submit/ }).click();
    await emile.getByRole('textbox', { name: 'Comment on the change' }).fill('Due on Friday');
    await emile.getByRole('button', { name: /^Approve/ }).click();
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
    await request.getByRole('textbox', { name: 'Comment on your decision' }).fill('Fine');
    await request.getByRole('button', { name: 'Approve' }).click();
    await request.waitFor({ state: 'detached' });

    await grace.clock.install();
    await grace.goto(address);
    await grace.getByRole('complementary').getByText('Fine').waitFor();
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
  }, 180_000);
});
