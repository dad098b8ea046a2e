import { readFile } from 'node:fs/promises';
import { newId } from '@plinth/kernel/uuid';
import { browserForTests, expectForEverybody } from './browser';

const browser = browserForTests();

describe('the timeline of an entity in the console', () => {
  it('has threads with files, which are downloaded again, and people who follow it', async () => {
    const address = `/console/entities/Order/${newId()}`;
    const { page: ada } = await browser.signIn('Ada Lovelace');
    await ada.goto(address);
    await ada.getByText('No followers').waitFor();
    await ada.getByRole('button', { name: 'Follow' }).click();
    await ada.getByText('1 follower').waitFor();
    await ada.getByRole('textbox', { name: 'Comment', exact: true }).fill('Who has the contract?');
    await ada.getByRole('button', { name: 'Send' }).click();
    const question = ada.getByRole('article').filter({ hasText: 'Who has the contract?' });
    await question.waitFor();

    const { page: grace } = await browser.signIn('Grace Hopper');
    await grace.goto(address);
    await grace
      .getByRole('article')
      .filter({ hasText: 'Who has the contract?' })
      .getByRole('button', { name: 'Reply' })
      .click();
    await grace.getByRole('textbox', { name: 'Reply' }).and(grace.locator(':focus')).waitFor();
    const content = 'Between North and South';
    const chooser = grace.waitForEvent('filechooser');
    await grace.getByRole('article').getByRole('button', { name: 'Attach a file' }).click();
    // Longer than any window.
    const name = `contract, ${'signed by both of us, '.repeat(8)}.txt`;
    const file = { name, mimeType: 'text/plain', buffer: Buffer.from(content) };
    await (await chooser).setFiles(file);
    await grace.getByRole('listitem').filter({ hasText: name }).waitFor();
    await grace.getByRole('textbox', { name: 'Reply' }).fill('Here it is');
    await expectForEverybody(grace);
    await grace.getByRole('article').getByRole('button', { name: 'Reply' }).last().click();
    await grace.getByRole('textbox', { name: 'Reply' }).waitFor({ state: 'detached' });
    await grace.getByRole('button', { name: 'Reply' }).and(grace.locator(':focus')).waitFor();

    // It is told to the one who follows, below what it replies to.
    const reply = question.getByRole('article').filter({ hasText: 'Here it is' });
    await reply.waitFor();
    await expectForEverybody(ada);
    const download = ada.waitForEvent('download');
    await reply.getByRole('button', { name: `${name} 23 bytes` }).click();
    expect((await download).suggestedFilename()).toBe(name);
    expect(await readFile(await (await download).path(), 'utf8')).toBe(content);
    await ada.getByRole('link', { name: /^Notifications/ }).click();
    await ada.getByText('Here it is').first().waitFor();
  }, 120_000);
});
