import { PublishedPlaces } from './published-places';

const snapshotAt = (number: bigint, oldest = number) => ({ oldest, next: number });

/** A relay that published these events one pass after the other. */
const placesAfter = (...sequences: bigint[]): PublishedPlaces => {
  const places = new PublishedPlaces();
  for (const sequence of sequences) {
    places.next(false);
    places.done({ taken: { first: sequence, last: sequence } });
  }
  return places;
};

describe('the places up to which events are published', () => {
  it('are passed over by later passes', () => {
    expect(placesAfter(1n, 2n, 7n).next(false)).toBe(7n);
  });

  it('are looked at again from where a transaction began that committed late', () => {
    const places = placesAfter(3n);
    const before = places.place();
    places.next(false);
    places.done({ taken: { first: 9n, last: 9n } });
    places.wake(before);
    places.wake(places.place());
    expect(places.next(false)).toBe(3n);

    places.done({ taken: { first: 4n, last: 5n } });
    expect(places.next(false)).toBe(9n);
  });

  it('do not forget who was woken in the middle of a pass, nor a pass that failed', () => {
    const places = placesAfter(5n);
    places.next(false);
    places.wake(2n);
    places.done({ taken: { first: 8n, last: 8n } });
    const after = places.next(false);
    expect(after).toBe(2n);

    places.wake(after);
    expect(places.next(false)).toBe(2n);
  });

  it('end before an event that was seen and not taken: another relay may fail with it', () => {
    const places = placesAfter(5n);
    places.next(false);
    places.done({ taken: { first: 9n, last: 9n }, left: 7n });
    expect(places.next(false)).toBe(6n);

    places.done({ left: 7n });
    expect(places.next(false)).toBe(6n);
  });

  it('are read by polls from where they are settled: no open transaction, and nothing found twice', () => {
    const places = placesAfter(10n);
    const poll = (number: bigint, oldest?: bigint) => {
      const after = places.next(true);
      places.done({}, snapshotAt(number, oldest));
      return after;
    };
    expect([poll(100n), poll(101n, 99n), poll(102n, 100n), poll(103n), poll(104n)]).toEqual([
      0n,
      0n,
      0n,
      0n,
      10n,
    ]);
    places.forget();
    expect(poll(105n)).toBe(0n);
  });

  it.each([
    ['taken', { taken: { first: 4n, last: 4n } }],
    ['left', { left: 4n }],
  ])('are not settled while a poll finds one that is %s', (_name, found) => {
    const places = placesAfter(10n);
    const poll = (number: bigint, pass = {}) => {
      const after = places.next(true);
      places.done(pass, snapshotAt(number));
      return after;
    };
    expect([poll(100n), poll(101n), poll(102n, found), poll(103n), poll(104n)]).toEqual([0n, 0n, 0n, 0n, 0n]);
    places.next(false);
    places.done({ taken: { first: 12n, last: 12n } });
    expect(poll(105n)).toBe(10n);
  });

  it('go back where a poll finds that the database did', () => {
    const places = placesAfter(900n);
    places.next(true);
    places.done({ taken: { first: 500n, last: 501n } }, snapshotAt(100n));
    expect(places.next(false)).toBe(501n);
  });

  it('begin again at a server that took over, which may give sequences again', () => {
    const places = placesAfter(900n);
    const poll = (number: bigint) => {
      const after = places.next(true);
      places.done({}, snapshotAt(number));
      return after;
    };
    for (const number of [100n, 101n, 102n]) poll(number);
    expect(poll(103n)).toBe(900n);
    expect([places.isElsewhere('one'), places.isElsewhere('one')]).toEqual([false, false]);

    expect(places.isElsewhere('other')).toBe(true);

    expect(places.place()).toBe(0n);
    expect(places.next(false)).toBe(0n);
    places.done({ taken: { first: 501n, last: 950n } });
    expect(poll(104n)).toBe(0n);
    expect(places.isElsewhere('other')).toBe(false);
  });
});
