/** The addresses of the servers of the tests. Reading a missing one throws an error that names it. */
export type Infrastructure = {
  readonly postgresUrl: string;
  readonly redisUrl: string;
  readonly natsUrl: string;
  readonly temporalAddress: string;
};

/** What global setup passes to the test processes. */
export type TestServers = Partial<Infrastructure> & {
  readonly templates: Readonly<Record<string, TestTemplate>>;
};

/** A migrated database of one service, to be cloned. */
export type TestTemplate = { readonly template: string; readonly ownerRole: string; readonly appUrl: string };

const variable = 'PLINTH_TEST_SERVERS';

/** The servers started for the tests; `postgresUrl` is the administrator's. */
export function infrastructure(): Infrastructure {
  const servers = testServers();
  return {
    get postgresUrl() {
      return present(servers.postgresUrl, 'PostgreSQL');
    },
    get redisUrl() {
      return present(servers.redisUrl, 'Redis');
    },
    get natsUrl() {
      return present(servers.natsUrl, 'NATS');
    },
    get temporalAddress() {
      return present(servers.temporalAddress, 'Temporal');
    },
  };
}

/** Everything global setup prepared. */
export function testServers(): TestServers {
  const text = process.env[variable];
  if (text === undefined) {
    throw new Error(
      'No servers were prepared for this test run: run it with jest.config.cjs, not the unit configuration.',
    );
  }
  return JSON.parse(text);
}

/** Called once, before the test processes start. */
export function setTestServers(servers: TestServers): void {
  process.env[variable] = JSON.stringify(servers);
}

function present(address: string | undefined, part: string): string {
  if (address === undefined) {
    throw new Error(`${part} is not available to the tests; .plinth/test/logs/launcher.log says why.`);
  }
  return address;
}
