/** Examples of the shapes of the gateway itself, by the names of the shapes. */
export const platformExamples: Record<string, unknown> = {
  CallerResponse: {
    userId: 'ada',
    userName: 'Ada Lovelace',
    tenantId: '01900000-0000-7000-8000-00000000d301',
    tenantName: 'Demo',
    permissions: ['Templating.Templates.Read', 'Timeline.Entries.Read'],
  },
  ConsoleConfiguration: {
    openId: {
      issuer: 'https://identity.example/realms/plinth',
      clientId: 'plinth-console',
      scope: 'openid profile',
      parameters: {},
    },
    development: null,
  },
  DeadLetters: {
    items: [
      {
        service: 'timeline',
        eventId: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
        tenantId: '01900000-0000-7000-8000-00000000d301',
        name: 'template.published',
        error: 'Error: No space left on device',
        deliveries: 10,
        diedAt: '2026-11-21T12:00:00.000Z',
        traceId: '0af7651916cd43dd8448eb211c80319c',
      },
    ],
    silent: [],
  },
  ReplayDeadLettersRequest: { service: 'timeline', eventId: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55' },
  ReplayedDeadLetters: { processed: 1, failed: 0 },
};
