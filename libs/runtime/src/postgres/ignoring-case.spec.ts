import { withPatternsLoweredOnce } from './ignoring-case';

describe('statements of Prisma', () => {
  it('lower the patterns of ILIKE once, not for each row', () => {
    const text = `WHERE ("public"."contact"."external_id" ILIKE ('%' || $1 || '%') OR ("j0"."odd ""name""" NOT ILIKE ('%' || $12)
      AND "t"."b"::text ILIKE ($3 || '%') AND "t"."b" ILIKE $4 AND "t"."b" = $5))`;

    expect(withPatternsLoweredOnce(text)).toBe(
      `WHERE ((lower("public"."contact"."external_id" COLLATE "default") LIKE lower(('%' || $1 || '%'))) OR (NOT (lower("j0"."odd ""name""" COLLATE "default") LIKE lower(('%' || $12)))
      AND (lower("t"."b"::text COLLATE "default") LIKE lower(($3 || '%'))) AND (lower("t"."b" COLLATE "default") LIKE lower($4)) AND "t"."b" = $5))`,
    );
  });

  it('stay as they are without it', () => {
    const text = 'SELECT " ILIKE " FROM "t" WHERE "a" LIKE $1';
    expect(withPatternsLoweredOnce(text)).toBe(text);
  });
});
