import { TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { newId } from '@plinth/kernel/uuid';
import { openExchangeOwner } from '@plinth/testing/exchange-owner';
import { aCaller } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { aFile } from './a-file';
import { aStaffMember, aUser, startTimeline, type Timeline } from './start-timeline';

let timeline: Timeline;
let owner: Awaited<ReturnType<typeof openExchangeOwner>>;
beforeAll(async () => {
  timeline = await startTimeline();
  owner = await openExchangeOwner(grpcServices(timeline));
});
afterAll(async () => {
  await owner.close();
  await timeline.close();
});

describe('the export Timeline.Entries', () => {
  const definition = 'Timeline.Entries';
  const setUp = async () => {
    const tenantId = newId();
    const [ann, sam] = [aUser(tenantId, 'Ann'), aStaffMember(tenantId, 'Sam')];
    const write = async (caller: ReturnType<typeof aCaller>, body: object) =>
      (await timeline.as(caller).post('/timeline/Invoice/1/entries', body)).body;
    const upload = (await timeline.as(ann).send('POST', '/blobs', aFile('a.txt', 'text'))).body;
    const comment = await write(ann, { entryType: 0, body: 'Hello', attachmentBlobIds: [upload.id] });
    const note = await write(sam, { entryType: 1, body: 'between us', parentEntryId: comment.id });
    return { ann, sam, upload, comment, note };
  };

  it('contains every entry that the caller sees, newest first', async () => {
    const { ann, sam, upload, comment, note } = await setUp();
    const fields = [
      'entityType',
      'entityId',
      'entryType',
      'body',
      'authorId',
      'parentEntryId',
      'createdAt',
      'attachmentBlobIds',
    ];
    const noted = [
      'Invoice',
      '1',
      'InternalNote',
      'between us',
      sam.userId,
      comment.id,
      note.createdAt,
      null,
    ];
    const commented = ['Invoice', '1', 'Comment', 'Hello', ann.userId, null, comment.createdAt, upload.id];
    expect(await owner.exportRows(sam, { definition, fields })).toEqual([noted, commented]);
    expect(await owner.exportRows(ann, { definition, fields })).toEqual([commented]);
    expect(await owner.exportRows(aCaller(), { definition, fields })).toEqual([]);
  });

  it('contains no internal note for callers who may not see them, with any search and filter', async () => {
    const { ann, sam, note } = await setUp();
    const selections = [
      { search: 'between' },
      { filter: { 'entryType.eq': 'InternalNote' } },
      { filter: { 'body.contains': 'US' } },
      { filter: { 'createdAt.gte': note.createdAt } },
      { filter: { 'authorId.eq': sam.userId } },
    ];
    for (const selection of selections) {
      expect(await owner.exportRows(sam, { definition, fields: ['body'], selection })).toEqual([
        ['between us'],
      ]);
      expect(await owner.exportRows(ann, { definition, fields: ['body'], selection })).toEqual([]);
    }
  });

  it.each([
    ['import-completed', 'completed: 48,200 of 48,200 rows.', 'completed.'],
    [
      'import-partially-completed',
      'partially completed: 48,200 of 48,211 rows, 11 failed.',
      'partially completed.',
    ],
    ['import-cancelled', 'cancelled after 48,200 rows.', 'cancelled.'],
    ['import-undone', 'undone: 48,200 rows removed, 3 restored.', 'undone.'],
    ['import-undo-failed', 'could not be undone.', 'could not be undone.'],
    ['import-failed', 'failed.', 'failed.'],
    ['export-completed', 'completed: 48,200 rows.', 'completed.'],
  ])(
    'tells no number of rows that a version before stored of %s, nor finds it by one',
    async (key, stored, ended) => {
      const ann = aUser(newId(), 'Ann');
      const [body, shown] = [stored, ended].map((end) => `Import of Contacts.Contacts ${end}`);
      const values = { definitionName: 'Contacts.Contacts', totalRows: 48_200 };
      await timeline.db.inTenant(ann.tenantId, async (tx) => {
        const same = {
          messageKey: `exchange.${key}`,
          messageValues: values,
          authorId: 'bob',
          authorDisplayName: 'Bob',
        };
        const entry = { ...same, tenantId: ann.tenantId, id: newId(), entityType: 'ImportJob', body: body! };
        await tx.entry.create({
          data: {
            ...entry,
            entityId: newId(),
            entryType: TimelineEntryType.SystemLog,
            createdAt: new Date(),
          },
        });
        await tx.sharedEntry.create({
          data: {
            ...entry,
            entityIdHead: 'head',
            entryIds: [newId()],
            entityIds: [newId()],
            createdAt: new Date(),
          },
        });
      });
      const exported = (selection: object) =>
        owner.exportRows(ann, { definition, fields: ['body'], selection });
      expect(await exported({ filter: { 'body.startsWith': 'Import of' } })).toEqual([[shown], [shown]]);
      for (const selection of [{ search: '48,2' }, { filter: { 'body.contains': '48,2' } }])
        expect(await exported(selection)).toEqual([]);
    },
  );

  it('is refused without the permission to read, and for import', async () => {
    const stranger = aCaller({ permissions: [] });
    await expect(owner.exportRows(stranger, { definition, fields: ['body'] })).rejects.toMatchObject({
      kind: 'forbidden',
    });
    const start = { definition, jobId: newId(), columns: ['body'] };
    await expect(owner.importRows(aCaller(), start, [[[2, 'x']]])).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });
});
