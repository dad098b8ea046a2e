import type { IncomingMessage } from 'node:http';
import { aCaller } from '@plinth/testing/http';
import type { LayoutFinding } from '../formats/file-format';
import { toFindingsResponse } from './import-findings-response';

const saying = (findings: readonly LayoutFinding[], byKey: Record<string, string>) => {
  const messageTexts = { of: async () => ({ culture: 'de', byKey }), close: () => undefined };
  return toFindingsResponse(findings, messageTexts as never, aCaller(), {} as IncomingMessage);
};

describe('what is unusual about a file', () => {
  it('is told in general where a later version found it, and as ever where this one knows it', async () => {
    const findings = [
      { code: 'OfLaterVersion', args: ['{'] },
      { code: 'Quote', args: [] },
    ] as unknown as LayoutFinding[];
    expect(await saying(findings, {})).toEqual([
      { code: 'OfLaterVersion', detail: expect.stringContaining('The file is unusual') },
      { code: 'Quote', detail: 'Cells stand between single quotes.' },
    ]);
  });

  it('is told in the words of the tenant, or in English where they say a value over and over', async () => {
    const findings: LayoutFinding[] = [
      { code: 'Totals', args: ['7'] },
      { code: 'Footnote', args: ['9'] },
    ];
    const texts = {
      'findings.Totals': 'Ab Zeile {0} stehen Summen.',
      'findings.Footnote': `{0, plural, other {${'#'.repeat(21)}}}`,
    };

    expect(await saying(findings, texts)).toEqual([
      { code: 'Totals', detail: 'Ab Zeile 7 stehen Summen.' },
      { code: 'Footnote', detail: 'From row 9 on there is text below the table, which is not read.' },
    ]);
  });
});
