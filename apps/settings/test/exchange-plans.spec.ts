import { excessiveReads, rowId } from '@plinth/testing/exchange-plans';
import { grpcServices } from '../src/grpc/server';
import { startSettings, type Settings } from './start-settings';

const name = 'Service.Timing.PreferredTimezone';

describe('imports, exports and undos of settings', () => {
  let settings: Settings;
  beforeAll(async () => {
    settings = await startSettings();
  });
  afterAll(() => settings.close());

  it('read no more values than they are asked for, whatever the statistics know', async () => {
    const excessive = await excessiveReads({
      database: { url: settings.databaseUrl, adminUrl: settings.database!.adminUrl },
      definition: 'Settings.Values',
      columns: ['scope', 'userId', 'name', 'value'],
      keysChange: false,
      optionalKey: 'userId',
      cellsOf: (number) => ['user', `user-${number}`, name, 'Europe/Paris'],
      fill: (admin, tenantId, rowCount) =>
        admin.query(
          `INSERT INTO setting_value (tenant_id, id, scope, user_id, name, value)
           SELECT $1, ${rowId.sql}, 'user', 'user-' || n, '${name}', 'Europe/Berlin'
           FROM generate_series(1, $2::int) AS n`,
          [tenantId, rowCount],
        ),
      services: (pool) => grpcServices({ ...settings, bulkPool: pool }),
    });

    expect(excessive).toEqual([]);
  });
});
