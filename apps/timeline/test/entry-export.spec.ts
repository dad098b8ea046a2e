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
