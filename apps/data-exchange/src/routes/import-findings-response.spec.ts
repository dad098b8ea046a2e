import type { IncomingMessage } from 'node:http';
import { aCaller } from '@plinth/testing/http';
import type { LayoutFinding } from '../formats/file-format';
import { toFindingsResponse } from './import-findings-response';

describe('what is unusual about a file', () => {
  it('is told in general where a later version found it, and as ever where this one knows it', async () => {
    const findings = [
      { code: 'OfLaterVersion', args: ['{'] },
      { code: 'Quote', args: [] },
    ] as unknown as LayoutFinding[];
    const messageTexts = { of: async () => ({ culture: 'de', byKey: {} }), close: () => undefined };
    const response = await toFindingsResponse(
      findings,
      messageTexts as never,
      aCaller(),
      {} as IncomingMessage,
    );

    expect(response).toEqual([
      { code: 'OfLaterVersion', detail: expect.stringContaining('The file is unusual') },
      { code: 'Quote', detail: 'Cells stand between single quotes.' },
    ]);
  });
});
