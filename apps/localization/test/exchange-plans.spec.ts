import { SHORT_TEXT_BYTES_MAX } from '@plinth/http/long-texts';
import { excessiveReads, rowId } from '@plinth/testing/exchange-plans';
import { grpcServices } from '../src/grpc/server';
import { startLocalization, type Localization } from './start-localization';

/** Of long texts it is looked for what is stored of them. */
const long = (text: string) => text.padEnd(SHORT_TEXT_BYTES_MAX + 1, '.');

describe('imports, exports and undos of overrides', () => {
  let localization: Localization;
  beforeAll(async () => {
    localization = await startLocalization();
  });
  afterAll(() => localization.close());

  it('read no more rows than they are asked for, whatever the statistics know', async () => {
    const { url, adminUrl } = localization.database!;
    const excessive = await excessiveReads({
      database: { url, adminUrl },
      definition: 'Localization.Overrides',
      columns: ['resourceName', 'cultureName', 'key', 'value'],
      cellsOf: (number, text) => ['Shop', 'fr', `key.of.a.text.${number}`, long(text)],
      fill: (admin, tenantId, rowCount) =>
        admin.query(
          `INSERT INTO override (tenant_id, id, resource_name, culture_name, key, value, modified_by)
           SELECT $1, ${rowId.sql}, 'Shop', 'fr', 'key.of.a.text.' || n, 'value', 'somebody'
           FROM generate_series(1, $2::int) AS n`,
          [tenantId, rowCount],
        ),
      services: (pool) => grpcServices({ ...localization, bulkPool: pool }),
    });

    expect(excessive).toEqual([]);
  });
});
