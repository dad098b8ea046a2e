import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { ByteBudget, heldBytes } from './byte-budget';

describe('the bytes of a text in memory', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['\0é\xff', 3],
    ['Ā', 2],
    [`Ā${'"'.repeat(9)}`, 20],
    ['😀', 4],
  ])('of %j are %d', (text, bytes) => {
    expect(heldBytes(text)).toBe(bytes);
  });
});

describe('a response that holds much', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const MINUTE_MIN = 4 * 1024 * 1024;
  const [ann, bob, eve] = [
    { tenantId: 'a', userId: 'ann' },
    { tenantId: 'a', userId: 'bob' },
    { tenantId: 'e', userId: 'eve' },
  ] as const;

  /** Holds half of the budget. */
  const aLargeResponse = (owner: ShareOwner = ann) => {
    const budget = new ByteBudget(200);
    const socket = { bytesWritten: 0, writableLength: 65_536 };
    const response = Object.assign(new EventEmitter(), {
      closed: false,
      socket,
      destroy: () => response.emit('close'),
    });
    const reservation = budget.reserve(owner);
    reservation.grow(100);
    reservation.releaseAfter(response as unknown as ServerResponse);
    /** Minutes pass, in each of which the client reads so many bytes and somebody wants as many as there are. */
    const pass = (minutes: number, bytes: number, wanting?: ShareOwner) => {
      for (let second = 0; second < 60 * minutes; second++) {
        if (second % 30 === 0 && wanting) {
          const wanted = budget.reserve(wanting);
          wanted.grow(101);
          wanted.release();
        }
        socket.bytesWritten += bytes / 60;
        jest.advanceTimersByTime(1_000);
      }
    };
    return { budget, socket, response, pass };
  };

  it('is ended where it is read slowly and others are refused what it holds', () => {
    const { budget, pass } = aLargeResponse();
    pass(2, MINUTE_MIN / 2, eve);
    expect(budget.usedBytes).toBe(0);
  });

  it('is ended for others of its tenant too', () => {
    const { budget, pass } = aLargeResponse();
    pass(2, MINUTE_MIN / 2, bob);
    expect(budget.usedBytes).toBe(0);
  });

  it('may be read slowly while nobody else is refused', () => {
    const { budget, pass } = aLargeResponse();
    pass(600, 1);
    pass(10, 1, ann);
    expect(budget.usedBytes).toBe(100);
  });

  it('to a network is ended for others of the same network too', () => {
    const network = { tenantId: '', userId: '192.0.2.1' };
    const { budget, pass } = aLargeResponse(network);
    pass(2, MINUTE_MIN / 2, network);
    expect(budget.usedBytes).toBe(0);
  });

  it('may be read at the least rate for as long as it takes', () => {
    const { budget, pass } = aLargeResponse();
    pass(10, 1.01 * MINUTE_MIN, eve);
    expect(budget.usedBytes).toBe(100);
  });

  it('is not ended where its client waits for the service', () => {
    const { budget, socket, pass } = aLargeResponse();
    socket.writableLength = 0;
    pass(10, 0, eve);
    expect(budget.usedBytes).toBe(100);
  });

  it('gives back what it held once it is sent, and nothing watches it any longer', () => {
    const { budget, response } = aLargeResponse();
    response.emit('close');
    expect(budget.usedBytes).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});
