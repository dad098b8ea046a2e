import { eventType, type EventEnvelope } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import fc from 'fast-check';
import { z } from 'zod';
import type { RawStatements, TenantDatabase } from '../postgres/postgres';
import { silentLog } from '../process/log';
import type { Delivery } from './delivery';
import { BATCH_SIZE_MAX, bySubject, EventProcessor, nextBatch, UNANSWERED_MAX } from './event-processor';
import { subscription } from './subscription';

const delivery = fc
  .record({
    tenantId: fc.constantFrom('north', 'south', 'east'),
    subject: fc.constantFrom('1', '2'),
    deliveryCount: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: UNANSWERED_MAX + 2 })),
  })
  .map(
    ({ tenantId, subject, deliveryCount }) => ({ event: { tenantId, subject }, deliveryCount }) as Delivery,
  );

describe('the next events of those that wait', () => {
  it('are the first ones of the tenant that waits longest, and one alone that nobody ever answered', () => {
    fc.assert(
      fc.property(fc.array(delivery, { minLength: 1, maxLength: 60 }), (waiting) => {
        const batch = nextBatch(waiting);
        const ofTenant = waiting.filter(({ event }) => event.tenantId === waiting[0]!.event.tenantId);
        expect(batch).toEqual(ofTenant.slice(0, batch.length));
        expect(batch.length).toBeGreaterThan(0);
        expect(batch.length).toBeLessThanOrEqual(BATCH_SIZE_MAX);
        if (batch.some(({ deliveryCount }) => deliveryCount > UNANSWERED_MAX)) expect(batch).toHaveLength(1);
      }),
    );
  });

  it('end with all, each once, those of a subject in their order', () => {
    fc.assert(
      fc.property(fc.array(delivery, { maxLength: 60 }), (waiting) => {
        let left = waiting;
        const done: Delivery[] = [];
        while (left.length > 0) {
          const batch = nextBatch(left);
          done.push(...batch);
          left = left.filter((one) => !batch.includes(one));
        }
        expect(done).toHaveLength(waiting.length);
        for (const { event } of waiting) {
          const isAlike = (one: Delivery) =>
            one.event.tenantId === event.tenantId && one.event.subject === event.subject;
          expect(done.filter(isAlike)).toEqual(waiting.filter(isAlike));
        }
      }),
    );
  });
});

describe('events that arrive behind others of their tenant', () => {
  it('are stored as they were published', async () => {
    const stored: unknown[] = [];
    const tx: RawStatements = {
      $queryRawUnsafe: async <Rows>() => [] as Rows,
      $executeRawUnsafe: async (_statement, ...values) => stored.push(...values),
    };
    const inTenant = <Result>(_tenantId: string, work: (transaction: RawStatements) => Promise<Result>) =>
      work(tx);
    const db: TenantDatabase<RawStatements> = { inTenant, inPlatform: (work) => work(tx) };
    const options = { deliveriesMax: 10, backoffMilliseconds: 1 };
    const counted = subscription(eventType('counted', z.object({})), async () => undefined);
    const processor = new EventProcessor('consumer', [counted], db, silentLog(), options, () => undefined);
    const event = {
      id: newId(),
      name: 'counted',
      tenantId: newId(),
      subject: '1',
      payload: {},
    } as EventEnvelope;

    await processor.processBatch([{ event, deliveryCount: 1, ack: () => undefined } as Delivery]);

    const [waiting] = stored.flatMap((value) =>
      String(value).startsWith('[') ? JSON.parse(String(value)) : [],
    );
    expect(waiting).toEqual({ id: event.id, event, attempts: 0 });
  });
});

describe('events that share a transaction', () => {
  it('are in the order in which they happened to their subject, however they were delivered', () => {
    const event = fc.record({ subject: fc.constantFrom('1', '2'), sequence: fc.nat() });
    fc.assert(
      fc.property(fc.array(event), (delivered) => {
        const sorted = (delivered as EventEnvelope[]).toSorted(bySubject);
        for (const [index, { subject, sequence }] of sorted.entries()) {
          const before = sorted[index - 1];
          expect(before?.subject !== subject || before.sequence <= sequence).toBe(true);
        }
      }),
    );
  });
});
