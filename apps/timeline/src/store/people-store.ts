import { SUGGESTIONS_MAX } from '@plinth/contracts/timeline/shapes';
import type { RowQuota } from '@plinth/http/row-quota';
import { BoundedMap } from '@plinth/kernel/bounded-map';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { escapeLike } from '@plinth/kernel/like-pattern';
import { likeIgnoringCase } from '@plinth/runtime/postgres/ignoring-case';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { Prisma } from '../generated/client';

const RECORD_AGAIN_MILLISECONDS = 3_600_000;
const RECENT_MAX = 50_000;

export interface Person {
  id: string;
  displayName: string;
}

const NAME = 'display_name';
const SUGGEST = `
  SELECT user_id AS id, display_name AS "displayName" FROM person
  WHERE tenant_id = $1::uuid AND (${likeIgnoringCase(NAME, '$2')} OR ${likeIgnoringCase('user_id', '$2')})
  ORDER BY CASE WHEN ${likeIgnoringCase(NAME, '$3')} THEN 0 WHEN ${likeIgnoringCase(NAME, '$4')} THEN 1
                WHEN ${likeIgnoringCase(NAME, '$5')} THEN 2 WHEN ${likeIgnoringCase(NAME, '$2')} THEN 3 ELSE 4 END,
           lower(display_name), user_id
  LIMIT ${SUGGESTIONS_MAX}`;

/** The directory of a tenant: everyone who called in it, by the name of their last token, while its quota has room. */
export interface PeopleStore {
  /** Records that a person called, under their present name; nobody new beyond the quota. */
  record(caller: Caller): Promise<void>;
  isKnown(tenantId: string, userId: string): Promise<boolean>;
  namesOf(tenantId: string, userIds: readonly string[]): Promise<Map<string, string>>;
  /** People whose name or id holds the text: those that begin with it first, then those with a word that does. */
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

    suggest: (tenantId, search) => {
      const text = escapeLike(search.trim());
      const [whole, begin, word, inside] = [text, `${text}%`, `% ${text}%`, `%${text}%`];
      return db.inTenant(tenantId, (tx) =>
        tx.$queryRawUnsafe<Person[]>(SUGGEST, tenantId, inside, whole, begin, word),
      );
    },
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
