import { eventType, type EventEnvelope } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import fc from 'fast-check';
import { z } from 'zod';
import type { RawStatements, TenantDatabase } from '../postgres/postgres';
import { silentLog } from '../process/log';
import type { Delivery } from './delivery';
import { BATCH_SIZE_MAX, bySubject, EventProcessor, nextBatch, UNANSWERED_MAX } from './event-processor';
import { reading, subscription, subscriptionOfMany, subscriptionsOfOneHandler } from './subscription';

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

describe('an event that is tried as a dead letter', () => {
  it('stays one where the database fails, since another process may have terminated it meanwhile', async () => {
    let isDead = false;
    const tx: RawStatements = {
      $queryRawUnsafe: async <Rows>(statement: string) => {
        if (statement.includes('INSERT INTO inbox'))
          throw Object.assign(new Error('late'), { code: '57014' });
        return (statement.includes('FROM dead_letter') && isDead ? [{}] : []) as Rows;
      },
      $executeRawUnsafe: async (statement) => {
        if (statement.startsWith('INSERT INTO dead_letter')) isDead = true;
        // The event is neither stored nor processed.
        else if (statement.startsWith('DELETE FROM dead_letter') && !statement.includes('EXISTS'))
          isDead = false;
        return 1;
      },
    };
    const inTenant = async <Result>(_: string, work: (transaction: RawStatements) => Promise<Result>) => {
      const wasDead = isDead;
      try {
        return await work(tx);
      } catch (error) {
        isDead = wasDead;
        throw error;
      }
    };
    const db: TenantDatabase<RawStatements> = { inTenant, inPlatform: (work) => work(tx) };
    const options = { deliveriesMax: 10, backoffMilliseconds: 1 };
    const counted = subscription(eventType('counted', z.object({})), async () => undefined);
    const processor = new EventProcessor('consumer', [counted], db, silentLog(), options, () => undefined);
    const event = { id: newId(), name: 'counted', tenantId: newId(), payload: {} } as EventEnvelope;
    let isAgain = false;
    const nak = () => void (isAgain = true);

    await processor.processBatch([{ event, deliveryCount: UNANSWERED_MAX + 1, nak } as unknown as Delivery]);

    expect({ isAgain, isDead }).toEqual({ isAgain: true, isDead: true });
  });
});

describe('a dead letter that is replayed', () => {
  it.each([true, false])('and fails has the new error where it is still one (%s)', async (isStillDead) => {
    const stored: unknown[] = [];
    const tx: RawStatements = {
      // Another replica, which replayed it too, may have processed it since this one failed.
      $queryRawUnsafe: async <Rows>(statement: string) => {
        if (!statement.includes('FOR UPDATE')) throw new Error('It fails again.');
        return (isStillDead ? [{}] : []) as Rows;
      },
      $executeRawUnsafe: async (statement, ...values) =>
        statement.startsWith('INSERT INTO dead_letter') ? stored.push(values[5]) : 1,
    };
    const inTenant = <Result>(_: string, work: (transaction: RawStatements) => Promise<Result>) => work(tx);
    const db: TenantDatabase<RawStatements> = { inTenant, inPlatform: (work) => work(tx) };
    const options = { deliveriesMax: 10, backoffMilliseconds: 1 };
    const counted = subscription(eventType('counted', z.object({})), async () => undefined);
    const processor = new EventProcessor('consumer', [counted], db, silentLog(), options, () => undefined);
    const event = { id: newId(), name: 'counted', tenantId: newId(), payload: {} } as EventEnvelope;

    const isProcessed = await processor.replay({ event, error: '', deliveries: 10, diedAt: new Date() });

    expect(isProcessed).toBe(!isStillDead);
    expect(stored).toEqual(isStillDead ? [expect.stringMatching('It fails again')] : []);
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

  it('are processed in that order, as one those of a handler of several types, and in the end of one that is last', async () => {
    const processed: string[] = [];
    const typeOf = (name: string) => eventType(name, z.object({}));
    const note = async (names: readonly string[]) => void processed.push(names.join());
    const name = ({ name: type, subject }: { name: string; subject: string }) => `${type} ${subject}`;
    const handlers = [
      ...['first', 'last'].map((one) =>
        subscriptionOfMany(
          typeOf(one),
          (_tx: RawStatements, _tenantId, events) => note(events.map((event) => name(event))),
          { isLast: one === 'last' },
        ),
      ),
      ...subscriptionsOfOneHandler(
        ['second', 'third'].map((one) => reading(typeOf(one), name)),
        (_tx: RawStatements, _tenantId, names) => note(names),
      ),
    ];
    const tenantId = newId();
    const delivered = ['last 3', 'second 2', 'first 1', 'third 3', 'first 2', 'last 1', 'second 3'].map(
      (event, index) => {
        const [type, subject] = event.split(' ') as [string, string];
        const about = { id: newId(), name: type, tenantId, subject, sequence: index, payload: {} };
        return { event: about as EventEnvelope, deliveryCount: 1, ack: () => undefined } as Delivery;
      },
    );
    const tx: RawStatements = {
      $queryRawUnsafe: async <Rows>(statement: string) =>
        (statement.includes('INSERT INTO inbox')
          ? delivered.map(({ event: { id } }) => ({ id }))
          : []) as Rows,
      $executeRawUnsafe: async () => 1,
    };
    const inTenant = <Result>(_: string, work: (transaction: RawStatements) => Promise<Result>) => work(tx);
    const db: TenantDatabase<RawStatements> = { inTenant, inPlatform: (work) => work(tx) };
    const options = { deliveriesMax: 10, backoffMilliseconds: 1 };
    const processor = new EventProcessor('consumer', handlers, db, silentLog(), options, () => undefined);

    await processor.processBatch(delivered);

    expect(processed).toEqual(['first 1', 'second 2', 'first 2', 'third 3,second 3', 'last 1,last 3']);
  });
});
