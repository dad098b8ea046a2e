import { SUGGESTIONS_MAX } from '@plinth/contracts/timeline/shapes';
import type { RowQuota } from '@plinth/http/row-quota';
import { BoundedMap } from '@plinth/kernel/bounded-map';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import type { Prisma } from '../generated/client';

const RECORD_AGAIN_MILLISECONDS = 3_600_000;
const RECENT_MAX = 50_000;

export interface Person {
  id: string;
  displayName: string;
}

interface Found extends Person {
  suffix: string;
}

/**
 * By what people are found, best first, as `person_suffix` ranks it: their name, what it is from a later word on, from
 * within a word on; their id.
 */
const RANKS = [0, 1, 2, 3] as const;

/**
 * What one rank has from a suffix on, in the order of the key, of people who are not known yet; the name of each by itself
 * (OFFSET). A suffix of a former name may be left, and finds nobody. Row-level security lets only what cannot fail reach an
 * index, so a suffix that begins with a text lies between two, and no COALESCE is in these conditions.
 */
const SUGGEST = `
  SELECT found.user_id AS id, found.suffix, person.display_name AS "displayName"
  FROM person_suffix AS found, LATERAL (
    SELECT display_name FROM person WHERE tenant_id = $1::uuid AND user_id = found.user_id OFFSET 0
  ) AS person
  WHERE found.tenant_id = $1::uuid AND found.rank = $2::smallint
    AND found.suffix >= lower($4::text) AND found.suffix < lower($3::text) || chr(1114111)
    AND found.user_id <> ALL ($5::text[])
    AND ($2::smallint = 3 OR found.suffix = right(searched_name(person.display_name), length(found.suffix)))
  ORDER BY found.suffix, found.user_id
  LIMIT $6::int`;

/** The directory of a tenant: everyone who called in it, by the name of their last token, while its quota has room. */
export interface PeopleStore {
  /** Records that a person called, under their present name; nobody new beyond the quota. */
  record(caller: Caller): Promise<void>;
  isKnown(tenantId: string, userId: string): Promise<boolean>;
  namesOf(tenantId: string, userIds: readonly string[]): Promise<Map<string, string>>;
  /**
   * People whose name holds the text, in any case: those that begin with it first, then those with a word that does, then
   * the others, each in the order of the name from there on, by code points; behind them those whose id begins with it.
   */
  suggest(tenantId: string, search: string): Promise<Person[]>;
}

interface Parts {
  db: TenantDatabase<Prisma.TransactionClient>;
  clock: Clock;
  quota: Pick<RowQuota, 'tryTake' | 'giveBack'>;
}

export function peopleStore({ db, clock, quota }: Parts): PeopleStore {
  /** Who was recorded lately, so that not every request writes. */
  const recent = new BoundedMap<string, { name: string; at: number }>(RECENT_MAX);

  const namesOf: PeopleStore['namesOf'] = async (tenantId, userIds) => {
    if (userIds.length === 0) return new Map();
    const people = await db.inTenant(tenantId, (tx) =>
      tx.person.findMany({ where: { tenantId, userId: { in: [...userIds] } } }),
    );
    return new Map(people.map(({ userId, displayName }) => [userId, displayName]));
  };

  return {
    namesOf,
    isKnown: async (tenantId, userId) => (await namesOf(tenantId, [userId])).has(userId),

    async record({ tenantId, userId, userName }) {
      const now = clock.now();
      const key = `${tenantId}/${userId}`;
      const earlier = recent.get(key);
      if (earlier?.name === userName && now.getTime() - earlier.at < RECORD_AGAIN_MILLISECONDS) return;
      let isTaken = false;
      const write = async (tx: Prisma.TransactionClient): Promise<number> => {
        // Where it is repeated, what it took the first time was given back.
        isTaken = false;
        const known = await tx.$executeRaw`
          UPDATE person SET display_name = ${userName}, seen_at = ${now}
          WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}`;
        if (known > 0) return 0;
        isTaken = quota.tryTake(tenantId, 1);
        if (!isTaken) return 0;
        return tx.$executeRaw`
          INSERT INTO person (tenant_id, user_id, display_name, seen_at)
          VALUES (${tenantId}::uuid, ${userId}, ${userName}, ${now}) ON CONFLICT DO NOTHING`;
      };
      const added = await db.inTenant(tenantId, write, 'once');
      if (isTaken && added === 0) quota.giveBack(tenantId, 1);
      recent.set(key, { name: userName, at: now.getTime() });
    },

    suggest: (tenantId, search) =>
      db.inTenant(tenantId, async (tx) => {
        await readByIndexes(tx);
        const found = new Map<string, Person>();
        // One after the other: of the next ones only those need to be read that are not enough yet.
        for (const rank of RANKS) {
          let from = search.trim();
          let isAtEnd = false;
          // Who holds the text several times is there as often.
          while (!isAtEnd && found.size < SUGGESTIONS_MAX) {
            const known = [...found.keys()];
            const wanted = SUGGESTIONS_MAX - known.length;
            const values = [tenantId, rank, search.trim(), from, known, wanted];
            const rows = await tx.$queryRawUnsafe<Found[]>(SUGGEST, ...values);
            for (const { id, displayName } of rows) found.set(id, { id, displayName });
            from = rows.at(-1)?.suffix ?? from;
            isAtEnd = rows.length < wanted;
          }
        }
        return [...found.values()];
      }),
  };
}

/** The name of a person in the directory, read inside a transaction. */
export async function findDisplayName(
  tx: Prisma.TransactionClient,
  tenantId: string,
  userId: string,
): Promise<string | undefined> {
  const person = await tx.person.findUnique({ where: { tenantId_userId: { tenantId, userId } } });
  return person?.displayName;
}
