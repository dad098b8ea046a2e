import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { filesOf } from './files';
import { startJourney, type Journey } from './platform';

const companies = [
  'External id,Name,Kind,Active,Founded on,Credit limit,Employees,Email',
  'C-1,"Analytical, Engines",Customer,true,1834-06-01,9999999999999.99,3,hello@example.com',
  'C-2,Difference Ltd,Supplier,false,,0.07,,',
].join('\r\n');

const contacts = [
  'External id,Last name,Preferred channel,Email,Company external id',
  'P-1,Lovelace,Email,ada@example.com,C-1',
  'P-2,Babbage,Phone,,C-2',
  'P-3,Byron,Post,,nowhere',
].join('\r\n');

describe('the contacts service on the platform', () => {
  let journey: Journey;
  let files: ReturnType<typeof filesOf>;
  let http: typeof files.http;
  beforeAll(async () => {
    journey = await startJourney();
    files = filesOf(journey, await journey.tokenOf({ tenantId: newId(), name: 'Ada' }));
    http = files.http;
  });

  const importFile = async (definitionName: string, name: string, text: string) =>
    (await files.importFile(definitionName, new File([text], name))).report;

  const exportFile = async (definitionName: string, selectedFields: string[] | null) => {
    const file = await files.exportFile({
      definitionName,
      format: 'csv',
      selectedFields,
      sort: 'externalId',
    });
    return file
      .toString()
      .replace(/^\uFEFF/, '')
      .trimEnd();
  };

  it('imports files, reports rows that do not fit, and exports the same files', async () => {
    expect(await importFile('Contacts.Companies', 'companies.csv', companies)).toMatchObject({
      finalStatus: 'Completed',
      insertedRows: 2,
    });
    const report = await importFile('Contacts.Contacts', 'contacts.csv', contacts);

    expect(report).toMatchObject({ finalStatus: 'PartiallyCompleted', insertedRows: 2, failedRows: 1 });
    expect(report.rowErrors).toMatchObject([
      { rowNumber: 4, kind: 'Identity', errorCodes: ['Service:Identity:UnknownReference'] },
    ]);
    expect(report.rowErrors[0].message).toContain('nowhere');
    expect(await exportFile('Contacts.Companies', null)).toBe(companies);
    const columns = ['externalId', 'lastName', 'channel', 'email', 'company.externalId'];
    expect(await exportFile('Contacts.Contacts', columns)).toBe(
      contacts.split('\r\n').slice(0, 3).join('\r\n'),
    );
  });

  it('lists which of its columns are references', async () => {
    const { body } = await http('GET', '/exports/definitions/Contacts.Contacts/fields');
    const navigation = body.filter(({ isNavigation }: { isNavigation: boolean }) => isNavigation);
    expect(navigation).toMatchObject([{ propertyPath: 'company.externalId', clrTypeName: 'String' }]);
  });

  it('has contacts that workflow moves, with timelines of what happened to them', async () => {
    const request = { externalId: newId(), lastName: 'King', channel: 'Post', phone: '1' };
    const { id } = (await http('POST', '/contacts', request)).body;
    const entity = `/workflow/Contact/${id}`;

    const moved = await http('POST', `${entity}/transition`, { targetState: 'Active', comment: 'Signed' });

    expect(moved.body).toEqual({ succeeded: true, resultingState: 'Active', outcome: 'Completed' });
    expect((await http('GET', `/contacts/${id}`)).body.stage).toBe('Active');
    expect((await http('GET', `${entity}/transitions`)).body).toMatchObject({
      currentState: 'Active',
      availableTransitions: [{ targetState: 'Archived', allowed: true }],
    });
    const entries = await eventually(async () => {
      const { items } = (await http('GET', `/timeline/Contact/${id}`)).body;
      return items.length >= 2 && items;
    });
    expect(entries.map(({ body }: { body: string }) => body).sort()).toEqual([
      'Created.',
      'Moved from Prospect to Active: Signed',
    ]);
    expect(entries[0]).toMatchObject({ entryType: 2, authorDisplayName: 'Ada' });
  });
});
